/**
 * The pages of the rules: the meaning of a finding, its effect, and a better text. The program has them; a click on the code of a finding
 * opens one.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { EventEmitter, workspace } from "vscode";
import type { Disposable, ExtensionContext, TextDocumentContentProvider, Uri } from "vscode";
import { findProgram } from "./program";
import type { Server } from "./server";

const SCHEME = "hiera-ls-rule";

/** The addresses of the pages, as the server gets them. The manifest names the editor that shows them. */
export const RULE_PAGES = `${SCHEME}:/{code}.md`;

/** Any link may have such an address: another text in place of the code could be an option of the program. */
const PAGE = /^\/([a-z0-9]+(?:-[a-z0-9]+)*)\.md$/;

const PATIENCE = 10_000;

export class RulePages implements TextDocumentContentProvider, Disposable {
  private readonly changes = new EventEmitter<Uri>();
  readonly onDidChange = this.changes.event;
  private readonly registered: Disposable[];

  constructor(
    private readonly context: ExtensionContext,
    server: Server,
  ) {
    this.registered = [
      workspace.registerTextDocumentContentProvider(SCHEME, this),
      // Another program may have other pages.
      server.onDidStart(() => {
        for (const { uri } of workspace.textDocuments) if (uri.scheme === SCHEME) this.changes.fire(uri);
      }),
    ];
  }

  dispose(): void {
    for (const registered of this.registered) registered.dispose();
    this.changes.dispose();
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const code = PAGE.exec(uri.path)?.[1];
    if (code === undefined) return `# No page\n\nNo rule of hiera-ls has the address \`${uri.toString(true)}\`.\n`;
    try {
      // A page that was left open is there before the server is.
      const program = await findProgram(this.context);
      return (await promisify(execFile)(program.path, ["rules", code], { timeout: PATIENCE })).stdout;
    } catch (error) {
      // The program's error message, if the program could be run.
      const { stderr = "", message } = error as Error & { stderr?: string };
      return `# ${code}\n\nThere is no page: ${stderr === "" ? message : stderr.trim()}\n`;
    }
  }
}
