/**
 * The places that a lens leads to, in the editor's own list.
 */
import { commands, Location, Position, Range, Uri } from "vscode";
import type { Location as SentLocation, Position as SentPosition } from "vscode-languageclient/node";

/** The command of a lens: peeks at the places. */
export async function showPlaces(uri: string, at: SentPosition, locations: readonly SentLocation[]): Promise<void> {
  const position = (place: SentPosition) => new Position(place.line, place.character);
  const places = locations.map(({ uri, range }) => new Location(Uri.parse(uri), new Range(position(range.start), position(range.end))));
  await commands.executeCommand("editor.action.showReferences", Uri.parse(uri), position(at), places);
}
