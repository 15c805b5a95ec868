/**
 * "Override for…": a node or a file of a level is picked, then the file that gets the entry, with the reach of the entry. Nothing is written
 * before that.
 */
import { Disposable, QuickInputButtons, QuickPickItemKind, Range, Uri, window, workspace } from "vscode";
import type { QuickPickItem } from "vscode";
import type { LanguageClient, Location, Position as SentPosition, WorkspaceEdit as SentEdit } from "vscode-languageclient/node";
import { overrideRequest, overrideTargetsRequest } from "./protocol";
import type { OverridePlace, OverrideTarget, OverrideTargets } from "./protocol";
import { NO_SERVER } from "./server";
import type { Server } from "./server";

/** After the last typed letter the list is requested again, in milliseconds. */
const PAUSE = 120;

/** The entry: a file, and a place on its key. */
interface About {
  readonly textDocument: { readonly uri: string };
  readonly position: SentPosition;
}

type TargetItem = QuickPickItem & { readonly target?: OverrideTarget };
type PlaceItem = QuickPickItem & { readonly place: OverridePlace };

/** The command: of a code action with the place of its key, else of the key at the cursor. */
export async function overrideFor(server: Server, uri?: unknown, position?: unknown): Promise<void> {
  const client = server.client;
  if (!client) {
    void window.showInformationMessage(NO_SERVER);
    return;
  }
  const about = typeof uri === "string" ? { textDocument: { uri }, position: position as SentPosition } : atCursor(client);
  const first = about && (await client.sendRequest(overrideTargetsRequest, about));
  if (!first) {
    void window.showInformationMessage("Hiera: set the cursor on a key of a data file whose text may be repeated elsewhere.");
    return;
  }
  for (;;) {
    const target = await pickTarget(client, about, first);
    if (!target) return;
    if (target.stated) {
      await open(target.stated);
      return;
    }
    if (!target.file?.uri) {
      void window.showInformationMessage(`Hiera: no file of ${target.name} can take the entry.`);
      return;
    }
    const choice = target.kind === "node" ? { node: target.name } : { file: target.file.uri };
    const answer = client.sendRequest(overrideRequest, { ...about, ...choice });
    const picked = await pickPlace(`Hiera: Override ${first.key} for ${target.name}`, answer);
    if (picked === "back") continue;
    if (picked?.edit) await write(client, picked.edit);
    return;
  }
}

function atCursor(client: LanguageClient): About | undefined {
  const editor = window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") return undefined;
  const converter = client.code2ProtocolConverter;
  return { textDocument: { uri: converter.asUri(editor.document.uri) }, position: converter.asPosition(editor.selection.active) };
}

/** Picks a node or a file of a level. The server filters, as there may be ten thousand of them. */
function pickTarget(client: LanguageClient, about: About, first: OverrideTargets): Promise<OverrideTarget | undefined> {
  const pick = window.createQuickPick<TargetItem>();
  pick.title = `Hiera: Override ${first.key} for…`;
  pick.placeholder = "A node, or a file of a level: type a part of its name";
  pick.items = items(first);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const renew = async (filter: string) => {
    const own = ++asked;
    // The server refuses a request whose text has changed: the list stays as it is.
    const list = await client.sendRequest(overrideTargetsRequest, { ...about, filter }).catch(() => undefined);
    if (own !== asked) return;
    if (list !== undefined) pick.items = list ? items(list) : [];
    pick.busy = false;
  };
  return new Promise((resolve) => {
    const listeners = Disposable.from(
      pick.onDidChangeValue((filter) => {
        clearTimeout(timer);
        pick.busy = true;
        timer = setTimeout(() => void renew(filter), PAUSE);
      }),
      pick.onDidAccept(() => {
        const target = pick.selectedItems[0]?.target;
        if (!target) return;
        resolve(target);
        pick.hide();
      }),
      pick.onDidHide(() => {
        clearTimeout(timer);
        asked++;
        listeners.dispose();
        pick.dispose();
        resolve(undefined);
      }),
    );
    pick.show();
  });
}

function items(list: OverrideTargets): TargetItem[] {
  const noun = list.areKinds ? "kinds of nodes" : "nodes";
  const part = (title: string, kind: OverrideTarget["kind"], leftOut: number): TargetItem[] => {
    const own = list.targets.filter((target) => target.kind === kind);
    if (own.length === 0) return [];
    const more = leftOut === 0 ? "" : ` (${String(leftOut)} more: type a part of the name)`;
    return [{ label: title + more, kind: QuickPickItemKind.Separator }, ...own.map(targetItem)];
  };
  const files = part("files of levels", "file", list.leftOut.files);
  return [...files, ...part(noun, "node", list.leftOut.nodes)];

  function targetItem(target: OverrideTarget): TargetItem {
    const { kind, name, file, value, stated } = target;
    const isFile = kind === "file";
    const readers = file ? `${String(file.readers)} of ${String(list.nodes)} ${noun}` : "";
    const where = isFile ? (file?.level ?? "") : (file?.path ?? "");
    const facts = stated ? ["has the key already"] : !file ? ["no file can take the entry"] : [where, ...(isFile ? [readers] : []), ...(file.exists ? [] : ["new file"])];
    return {
      label: `${isFile ? "$(layers)" : "$(server)"} ${name}`,
      description: [...facts, `now ${value}`].filter((fact) => fact !== "").join(" · "),
      alwaysShow: true,
      target,
    };
  }
}

/** Picks the file; `back` to pick another node or file of a level. */
function pickPlace(title: string, answer: Promise<{ places: readonly OverridePlace[] } | null>): Promise<OverridePlace | "back" | undefined> {
  const pick = window.createQuickPick<PlaceItem>();
  pick.title = title;
  pick.placeholder = "Choose the file: the entry has the present value until you edit it";
  pick.buttons = [QuickInputButtons.Back];
  pick.busy = true;
  pick.matchOnDetail = true;
  return new Promise((resolve) => {
    const listeners = Disposable.from(
      pick.onDidTriggerButton(() => {
        resolve("back");
        pick.hide();
      }),
      pick.onDidAccept(() => {
        const place = pick.selectedItems[0]?.place;
        if (!place?.edit) return;
        resolve(place);
        pick.hide();
      }),
      pick.onDidHide(() => {
        listeners.dispose();
        pick.dispose();
        resolve(undefined);
      }),
    );
    pick.show();
    answer.then(
      (found) => {
        pick.items = (found?.places ?? []).map(placeItem);
        if (pick.items.length === 0) pick.placeholder = "No file of this choice can take the entry.";
        pick.busy = false;
      },
      () => {
        pick.hide();
      },
    );
  });
}

function placeItem(place: OverridePlace): PlaceItem {
  const { path, exists, effect, governs, remark, refused } = place;
  const detail = refused ?? [governs, remark].filter((text) => text !== null).join(" · ");
  return {
    label: `${refused === null ? "$(edit)" : "$(circle-slash)"} ${path}`,
    description: [...(exists ? [] : ["new file"]), effect].filter((text) => text !== "").join(" · "),
    detail,
    place,
  };
}

/** Writes the entry, and shows it: the user is about to change the value. */
async function write(client: LanguageClient, sent: SentEdit): Promise<void> {
  const edit = await client.protocol2CodeConverter.asWorkspaceEdit(sent);
  const written = edit.entries().find(([, edits]) => edits.length > 0);
  if (!(await workspace.applyEdit(edit)) || !written) return;
  const [uri, [first]] = written;
  if (!first) return;
  const document = await workspace.openTextDocument(uri);
  const lines = first.newText.replace(/^\n/, "").split("\n");
  const start = first.newText.startsWith("\n") ? first.range.start.line + 1 : first.range.start.line;
  // The line of the key: comments and the marker of a document stand above.
  const above = Math.max(0, lines.findIndex((line) => !/^(#|---|\s*$)/.test(line)));
  const end = document.lineAt(Math.min(start + above, document.lineCount - 1)).range.end;
  // The cursor has its place from the beginning: the next key may be pressed at once.
  await window.showTextDocument(document, { selection: new Range(end, end) });
}

async function open({ uri, range }: Location): Promise<void> {
  const start = range.start;
  await window.showTextDocument(Uri.parse(uri), { selection: new Range(start.line, start.character, start.line, start.character) });
}
