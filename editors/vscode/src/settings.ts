/**
 * What the server is told of the settings: what somebody set, and nothing else. Defaults are the server's own: sent along, they would
 * win over the repository's `.hiera-ls.yaml`.
 */
import { workspace } from "vscode";
import type { Uri } from "vscode";

export const SECTION = "hiera";

/** Settings that are the extension's, not the server's. */
const OWN = ["server.", "trace."];

/** The server's settings that are set anywhere, nested as their dotted names say. */
export function settings(names: readonly string[], scope?: Uri): Record<string, unknown> {
  const configuration = workspace.getConfiguration(SECTION, scope ?? null);
  const all: Record<string, unknown> = {};
  for (const name of names.filter((name) => !OWN.some((own) => name.startsWith(own)))) {
    const found = configuration.inspect(name);
    const isSet = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
    // `get` and not the parts: VS Code merges hashes that are set in several places.
    if (isSet) put(all, name.split("."), configuration.get(name));
  }
  return all;
}

/** The names of all settings that the extension's manifest has, without the section. */
export function settingNames(manifest: unknown): string[] {
  const parts = (manifest as { contributes: { configuration: { properties: Record<string, unknown> }[] } }).contributes.configuration;
  return parts.flatMap((part) => Object.keys(part.properties)).map((name) => name.slice(SECTION.length + 1));
}

function put(into: Record<string, unknown>, way: readonly string[], value: unknown): void {
  const [first, ...rest] = way;
  if (first === undefined) return;
  if (rest.length === 0) into[first] = value;
  else put((into[first] ??= {}) as Record<string, unknown>, rest, value);
}
