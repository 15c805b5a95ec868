/**
 * The view *Hierarchy*: the levels that the file in the editor has, in order; which have a file, which have the key at the cursor. Below them,
 * folded, the keys of the file, each with the levels that have it. A click opens the place.
 */
import { commands, EventEmitter, MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, Uri, window, workspace } from "vscode";
import type { Disposable, TextEditor, TreeDataProvider, TreeView } from "vscode";
import { DocumentSymbolRequest } from "vscode-languageclient/node";
import type { DocumentSymbol, Range } from "vscode-languageclient/node";
import { hierarchyRequest } from "./protocol";
import type { Candidate, Hierarchy, HierarchyLevel, HierarchyLocation } from "./protocol";
import type { Server } from "./server";

/** While the cursor moves, nothing is asked. */
const PAUSE = 150;

type Row =
  | { readonly kind: "level"; readonly level: HierarchyLevel }
  | { readonly kind: "location"; readonly level: HierarchyLevel; readonly location: HierarchyLocation; readonly title: string }
  | { readonly kind: "candidate"; readonly level: HierarchyLevel; readonly candidate: Candidate }
  | { readonly kind: "keys"; readonly uri: string }
  | { readonly kind: "key"; readonly uri: string; readonly symbol: DocumentSymbol }
  | { readonly kind: "note"; readonly text: string };

/** Which locations are files, by their state; the others are named otherwise. */
const HAS_PATH: ReadonlySet<HierarchyLocation["state"]> = new Set(["value", "overridden", "file", "missing"]);

/** Where a key has a value, or may have one. */
const HAS_KEY: ReadonlySet<HierarchyLocation["state"]> = new Set(["value", "overridden", "undetermined"]);

export class HierarchyView implements TreeDataProvider<Row>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view: TreeView<Row>;
  private readonly listening: Disposable[];
  private shown: Hierarchy | null = null;
  private folders: Folders = new Map();
  /** The file that the levels are those of. */
  private file: string | undefined;
  /** What was answered about the file's keys since anything changed but the cursor. */
  private readonly known = new Map<string, Promise<Row[]>>();
  private timer: NodeJS.Timeout | undefined;
  /** Answers that come late, after another question, are dropped. */
  private asked = 0;

  constructor(private readonly server: Server) {
    this.view = window.createTreeView("hiera.hierarchy", { treeDataProvider: this, showCollapseAll: true });
    const soon = () => {
      this.soon();
    };
    const anew = () => {
      this.known.clear();
      this.soon();
    };
    this.listening = [
      window.onDidChangeActiveTextEditor(soon),
      window.onDidChangeTextEditorSelection(soon),
      workspace.onDidChangeTextDocument(anew),
      this.view.onDidChangeVisibility(soon),
      server.onDidChange(anew),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const listening of this.listening) listening.dispose();
    this.view.dispose();
    this.changes.dispose();
  }

  getChildren(row?: Row): Row[] | Promise<Row[]> {
    if (row === undefined) {
      const levels = (this.shown?.levels ?? []).map((level): Row => {
        const [only, ...more] = level.locations;
        // A level with one location is one row.
        return only && more.length === 0 ? { kind: "location", level, location: only, title: level.name } : { kind: "level", level };
      });
      return levels.length > 0 && this.file !== undefined ? [...levels, { kind: "keys", uri: this.file }] : levels;
    }
    switch (row.kind) {
      case "level":
        return row.level.locations.map((location) => ({ kind: "location", level: row.level, location, title: "" }));
      case "location":
        return row.location.candidates.map((candidate) => ({ kind: "candidate", level: row.level, candidate }));
      case "candidate":
      case "note":
        return [];
      case "keys":
        return this.once(row.uri, () => this.keysOf(row.uri));
      case "key":
        return this.once(`${row.uri} ${row.symbol.name}`, () => this.levelsOf(row.uri, row.symbol));
    }
  }

  getTreeItem(row: Row): TreeItem {
    switch (row.kind) {
      case "level":
        return levelItem(row.level);
      case "location":
        return locationItem(row.level, row.location, row.title, this.folders);
      case "candidate":
        return candidateItem(row.level, row.candidate, this.folders);
      case "keys":
        return keysItem(row.uri);
      case "key":
        return keyItem(row.uri, row.symbol);
      case "note":
        return new TreeItem(row.text);
    }
  }

  /** Requests rows once, and caches them for the next moves of the cursor. */
  private once(about: string, ask: () => Promise<Row[]>): Promise<Row[]> {
    const known = this.known.get(about);
    if (known) return known;
    const asked = ask().catch((): Row[] => {
      // The text has changed meanwhile, or the server is going away: it is asked again.
      this.known.delete(about);
      return [];
    });
    this.known.set(about, asked);
    return asked;
  }

  private async keysOf(uri: string): Promise<Row[]> {
    const answer = (await this.server.client?.sendRequest(DocumentSymbolRequest.type, { textDocument: { uri } })) ?? [];
    const symbols = answer.filter((symbol): symbol is DocumentSymbol => "selectionRange" in symbol);
    return symbols.length > 0 ? symbols.map((symbol) => ({ kind: "key", uri, symbol })) : [{ kind: "note", text: "no keys" }];
  }

  /** The places that have the key, in the order of the levels. */
  private async levelsOf(uri: string, symbol: DocumentSymbol): Promise<Row[]> {
    const position = symbol.selectionRange.start;
    const answer = await this.server.client?.sendRequest(hierarchyRequest, { textDocument: { uri }, position });
    const rows = (answer?.levels ?? []).flatMap((level) =>
      level.locations.filter(({ state }) => HAS_KEY.has(state)).map((location): Row => ({ kind: "location", level, location, title: level.name })),
    );
    return rows.length > 0 ? rows : [{ kind: "note", text: "no level has it" }];
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  private async ask(): Promise<void> {
    const editor = window.activeTextEditor;
    const client = this.server.client;
    if (!client) {
      this.show(null);
      return;
    }
    // A click on the view, the output or a panel leaves the file that was looked at.
    if (!editor || !this.isAttached(editor)) return;
    if (!this.view.visible) return;
    const question = (this.asked += 1);
    const converter = client.code2ProtocolConverter;
    const params = { textDocument: { uri: converter.asUri(editor.document.uri) }, position: converter.asPosition(editor.selection.active) };
    try {
      const answer = await client.sendRequest(hierarchyRequest, params);
      if (question === this.asked) this.show(answer, params.textDocument.uri);
    } catch {
      // The text has changed meanwhile, or the server is going away: the next question is on its way.
    }
  }

  /** Whether it is a file that the server may know; the menus ask for it, too. */
  private isAttached(editor: TextEditor): boolean {
    const { uri } = editor.document;
    const attached = uri.scheme === "file" && this.server.isAbout(uri.fsPath);
    void commands.executeCommand("setContext", "hiera.attached", attached);
    return attached;
  }

  private show(hierarchy: Hierarchy | null, file?: string): void {
    this.shown = hierarchy;
    this.file = file;
    this.folders = foldersOf(hierarchy?.levels ?? []);
    this.view.message = [hierarchy?.scope, hierarchy?.key].filter((part) => part).join(" · ");
    this.changes.fire(undefined);
  }
}

function levelItem(level: HierarchyLevel): TreeItem {
  const item = new TreeItem(level.name, level.locations.length > 0 ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
  item.description = layerOf(level);
  if (level.locations.length === 0) {
    item.iconPath = new ThemeIcon("dash", new ThemeColor("disabledForeground"));
    item.description = [item.description, "nothing for this node"].filter((part) => part !== "").join(" · ");
    item.tooltip = "This level reads nothing for this node.";
  } else {
    // The rows would not be in one column beside those of levels with one location, which have an icon.
    const best = ORDER.find((state) => level.locations.some((location) => location.state === state));
    if (best !== undefined) item.iconPath = iconOf(best);
  }
  item.command = opening(level.config.uri, level.config.range);
  return item;
}

/** The folder of each layer that all its files lie in, with the slash behind it: rows leave it out, as a side bar is narrow. */
type Folders = ReadonlyMap<string, string>;

function foldersOf(levels: readonly HierarchyLevel[]): Folders {
  const folders = new Map<string, string>();
  for (const { layer, locations } of levels) {
    for (const { state, path, candidates } of locations) {
      const named = HAS_PATH.has(state) ? [path] : candidates.map((candidate) => candidate.path);
      for (const name of named) {
        const folder = name.slice(0, name.lastIndexOf("/") + 1);
        folders.set(layer, commonFolder(folders.get(layer) ?? folder, folder));
      }
    }
  }
  return folders;
}

function commonFolder(one: string, other: string): string {
  let folder = one;
  while (!other.startsWith(folder)) folder = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
  return folder;
}

/** Returns a path without the folder that all files of the layer lie in. */
function shortPath(level: HierarchyLevel, path: string, folders: Folders): string {
  const folder = folders.get(level.layer) ?? "";
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

/** Returns the name of a file and the words for its folder: the name comes first, as a side bar cuts the end. What is not a path has no folder. */
function fileAndFolder(path: string): [file: string, folder: string] {
  const end = path.lastIndexOf("/");
  return end < 0 ? [path, ""] : [path.slice(end + 1), `in ${path.slice(0, end)}`];
}

function locationItem(level: HierarchyLevel, location: HierarchyLocation, title: string, folders: Folders): TreeItem {
  const below = location.candidates.length > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None;
  const [file, folder] = location.state === "opaque" ? [location.path, ""] : fileAndFolder(shortPath(level, location.path, folders));
  const item = new TreeItem(title || file, below);
  const { words } = STATES[location.state];
  item.iconPath = iconOf(location.state);
  const place = title ? [file, folder].filter((part) => part !== "").join(" ") : folder;
  item.description = [place, title ? layerOf(level) : "", words].filter((part) => part !== "").join(" · ");
  const template = location.template !== null && location.template !== location.path ? `${location.template} in ${level.config.uri.split("/").pop() ?? ""}` : "";
  // A path is the repository's text, and may hold markup.
  item.tooltip = new MarkdownString().appendText(location.path).appendMarkdown(`\n\n${STATES[location.state].told}\n\n`).appendText(template);
  // The row of a file that does not exist opens hiera.yaml.
  item.command = location.uri === null ? opening(level.config.uri, level.config.range) : opening(location.uri, location.key);
  item.accessibilityInformation = { label: `${title || level.name}, ${location.path}, ${STATES[location.state].told}` };
  return item;
}

function candidateItem(level: HierarchyLevel, candidate: Candidate, folders: Folders): TreeItem {
  const [file, folder] = fileAndFolder(shortPath(level, candidate.path, folders));
  const item = new TreeItem(file);
  item.tooltip = new MarkdownString().appendText(candidate.path);
  const when = Object.entries(candidate.when).map(([name, value]) => `${name} = ${value}`);
  item.iconPath = new ThemeIcon(candidate.key === null ? "circle-large-outline" : "circle-large-filled");
  item.description = [folder, when.length > 0 ? `where ${when.join(" and ")}` : ""].filter((part) => part !== "").join(" · ");
  item.command = opening(candidate.uri, candidate.key);
  return item;
}

function keysItem(uri: string): TreeItem {
  const item = new TreeItem("Keys", TreeItemCollapsibleState.Collapsed);
  item.id = `keys ${uri}`;
  item.description = workspace.asRelativePath(Uri.parse(uri));
  item.iconPath = new ThemeIcon("list-unordered");
  item.tooltip = "The keys of this file, each with the levels that have it.";
  return item;
}

function keyItem(uri: string, symbol: DocumentSymbol): TreeItem {
  const item = new TreeItem(symbol.name, TreeItemCollapsibleState.Collapsed);
  item.id = `key ${uri} ${String(symbol.selectionRange.start.line)} ${symbol.name}`;
  item.iconPath = new ThemeIcon("key");
  item.command = opening(uri, symbol.selectionRange);
  return item;
}

/** How each state looks; `words` stand beside the path, where there is little room. */
const STATES: Record<HierarchyLocation["state"], { icon: string; color?: string; words: string; told: string }> = {
  value: { icon: "pass-filled", color: "charts.green", words: "", told: "has the key; the value comes from it" },
  overridden: { icon: "circle-large-filled", words: "overridden", told: "has the key, but a level above answers" },
  file: { icon: "circle-large-outline", words: "", told: "exists, without the key" },
  missing: { icon: "circle-slash", color: "disabledForeground", words: "no file", told: "there is no such file" },
  undetermined: { icon: "question", words: "", told: "variables that are unknown decide which file it is" },
  opaque: { icon: "lock", words: "cannot be read here", told: "a backend that is not evaluated here" },
};

/** Which state of its locations a level has. */
const ORDER: readonly HierarchyLocation["state"][] = ["value", "overridden", "undetermined", "opaque", "file", "missing"];

function iconOf(state: HierarchyLocation["state"]): ThemeIcon {
  const { icon, color } = STATES[state];
  return color === undefined ? new ThemeIcon(icon) : new ThemeIcon(icon, new ThemeColor(color));
}

function layerOf(level: HierarchyLevel): string {
  return level.layer === "environment" ? "" : level.layer.replace(/^module /, "");
}

function opening(uri: string, range: Range | null): NonNullable<TreeItem["command"]> {
  return { title: "Open", command: "hiera.openPlace", arguments: [uri, range] };
}

/** The command of a row: opens a file at a place. */
export async function openPlace(uri: string, place: Range | null): Promise<void> {
  const at = place?.start ?? { line: 0, character: 0 };
  const fragment = `L${at.line + 1},${at.character + 1}`;
  await commands.executeCommand("vscode.open", Uri.parse(uri).with({ fragment }));
}
