/**
 * Documents that are answers of the server: the story of a lookup, all data of a node, what unsaved edits change. They follow the node and the files.
 */
import { DocumentLink, EventEmitter, languages, Range, Uri, ViewColumn, window, workspace } from "vscode";
import type { Disposable, DocumentLinkProvider, TextDocument, TextDocumentContentProvider } from "vscode";
import { configRequest, effectiveDataRequest, explainRequest, reachRequest } from "./protocol";
import type { Explanation } from "./protocol";
import { NO_SERVER } from "./server";
import type { Server } from "./server";

const SCHEME = "hiera-ls";
/** The address of the report about unsaved edits. */
const REACH = Uri.from({ scheme: SCHEME, path: "/reach of the edits", query: JSON.stringify({ page: "reach" }) });
/** The address of the page about the configs that govern. */
const CONFIG = Uri.from({ scheme: SCHEME, path: "/governing config", query: JSON.stringify({ page: "config" }) });
/** How long the report waits for the next edit, in milliseconds. */
const REACH_PAUSE = 300;

/** The argument of a hover's link: a file by its address, and a key. */
export function isNamed(about: unknown): about is { uri: string; key: string } {
  const named = about as { uri?: unknown; key?: unknown } | null | undefined;
  return typeof named?.uri === "string" && typeof named.key === "string";
}

/** What a document is about; its address holds it. */
interface About {
  /** The file in whose scope the values are; none for a page about the workspace. */
  readonly file?: string;
  /** The page about the workspace. */
  readonly page?: "reach" | "config";
  /** The key whose lookup is explained; all data without one. */
  readonly key?: string;
}

export class Documents implements TextDocumentContentProvider, DocumentLinkProvider, Disposable {
  private readonly changes = new EventEmitter<Uri>();
  readonly onDidChange = this.changes.event;
  private readonly registered: Disposable[];
  /** The last explanation or report of each document, by its address. */
  private readonly explanations = new Map<string, Pick<Explanation, "text" | "links">>();
  /** The report follows each edit after a pause. */
  private pause: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.registered = [
      workspace.registerTextDocumentContentProvider(SCHEME, this),
      languages.registerDocumentLinkProvider({ scheme: SCHEME }, this),
      workspace.onDidCloseTextDocument(({ uri }) => this.explanations.delete(uri.toString())),
      // The pages depend not only on files on disk: also on unsaved text, and on the chosen node.
      server.onDidChange(() => {
        this.renew();
      }),
      workspace.onDidSaveTextDocument(() => {
        this.renew();
      }),
      workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme !== "file") return;
        clearTimeout(this.pause);
        this.pause = setTimeout(() => {
          this.changes.fire(REACH);
        }, REACH_PAUSE);
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.pause);
    for (const registered of this.registered) registered.dispose();
    this.changes.dispose();
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const client = this.server.client;
    if (!client) return "# The server is not running.\n";
    const { file, key, page } = JSON.parse(uri.query) as About;
    if (page === "config") return (await client.sendRequest(configRequest, {}))?.text ?? "";
    if (file === undefined) {
      const answer = await client.sendRequest(reachRequest, {});
      if (!answer) return "";
      this.explanations.set(uri.toString(), answer);
      return answer.text;
    }
    const textDocument = { uri: file };
    if (key === undefined) {
      const answer = await client.sendRequest(effectiveDataRequest, { textDocument });
      return answer?.text ?? "# No level can read this file, so that no node is meant.\n";
    }
    const answer = await client.sendRequest(explainRequest, { textDocument, key });
    if (!answer) return "No level can read this file, so that no node is meant.\n";
    this.explanations.set(uri.toString(), answer);
    this.server.walkthrough.done("explained");
    return answer.text;
  }

  provideDocumentLinks(document: TextDocument): DocumentLink[] {
    const shown = this.explanations.get(document.uri.toString());
    // A text that has come meanwhile is asked about again.
    if (shown?.text !== document.getText().replaceAll("\r\n", "\n")) return [];
    return (shown.links ?? []).map(({ range: { start, end }, target }) => {
      const place = Uri.parse(target.uri).with({ fragment: `L${String(target.range.start.line + 1)}` });
      return new DocumentLink(new Range(start.line, start.character, end.line, end.character), place);
    });
  }

  /** The command: the page about the key at the cursor, or about the one that a hover's link names. */
  async explain(about?: unknown): Promise<void> {
    if (isNamed(about)) {
      await this.open(`${about.key} explained`, { file: about.uri, key: about.key });
      return;
    }
    const asked = this.asked("open a data file, and set the cursor on a key.");
    if (!asked) return;
    const { client, file, cursor } = asked;
    const answer = await client.sendRequest(explainRequest, { textDocument: { uri: file }, position: cursor });
    if (!answer) {
      void window.showInformationMessage("Hiera: there is no key at the cursor.");
      return;
    }
    await this.open(`${answer.key} explained`, { file, key: answer.key });
  }

  /** The command: all keys with their values. */
  async effectiveData(): Promise<void> {
    const asked = this.asked("open a data file: the values are those of the nodes that read it, or of the node that is selected.");
    if (asked) await this.open("effective data.yaml", { file: asked.file });
  }

  /** The command: the keys and nodes that unsaved edits change. */
  async reach(): Promise<void> {
    await this.show(REACH);
  }

  /** The command: the configs that govern, each with the reason. */
  async config(): Promise<void> {
    await this.show(CONFIG);
  }

  /** Returns the subject of a command: the file in the editor, and the cursor in it. Where there is none, shows the user `instead`. */
  private asked(instead: string) {
    const client = this.server.client;
    const editor = window.activeTextEditor;
    if (!client) {
      void window.showInformationMessage(NO_SERVER);
      return undefined;
    }
    if (editor?.document.uri.scheme !== "file") {
      void window.showInformationMessage(`Hiera: ${instead}`);
      return undefined;
    }
    const converter = client.code2ProtocolConverter;
    return { client, file: converter.asUri(editor.document.uri), cursor: converter.asPosition(editor.selection.active) };
  }

  private async open(name: string, about: About): Promise<void> {
    // A slash would make folders of a key.
    await this.show(Uri.from({ scheme: SCHEME, path: `/${name.replaceAll("/", "∕")}`, query: JSON.stringify(about) }));
  }

  private async show(uri: Uri): Promise<void> {
    this.changes.fire(uri);
    const document = await workspace.openTextDocument(uri);
    await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  private renew(): void {
    for (const { uri } of workspace.textDocuments) if (uri.scheme === SCHEME) this.changes.fire(uri);
  }
}
