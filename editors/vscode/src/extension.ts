/**
 * Hiera in VS Code. Everything that is known of Hiera is known by the server; here are its places in the workbench.
 */
import { commands, window, workspace } from "vscode";
import type { ExtensionContext } from "vscode";
import { chooseConfig } from "./configs";
import { Documents } from "./documents";
import { evaluateKey } from "./evaluation";
import { HierarchyView, openPlace } from "./hierarchy";
import { restoreNode, selectNode } from "./nodes";
import { showPlaces } from "./places";
import { RulePages } from "./rules";
import { Server, watchConfigs } from "./server";
import { StatusBar } from "./status";

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const own = (server = new Server(context));
  const documents = new Documents(own);
  const lookAgain = () => void own.lookAgain();
  context.subscriptions.push(
    own,
    documents,
    new StatusBar(own),
    new HierarchyView(own),
    new RulePages(context, own),
    watchConfigs(lookAgain),
    workspace.onDidChangeWorkspaceFolders(lookAgain),
    workspace.onDidGrantWorkspaceTrust(() => void own.restart()),
    workspace.onDidChangeConfiguration((event) => {
      if (own.settings.needsRestart((name) => event.affectsConfiguration(name))) void own.restart();
    }),
    own.onDidStart((client) => void restoreNode(context, client, own.output)),
    commands.registerCommand("hiera.restartServer", () => own.restart()),
    commands.registerCommand("hiera.showOutput", () => {
      own.output.show();
    }),
    commands.registerCommand("hiera.showVersion", () => {
      showVersion(context, own);
    }),
    commands.registerCommand("hiera.selectNode", () => selectNode(context, own)),
    commands.registerCommand("hiera.chooseConfig", () => chooseConfig(own)),
    commands.registerCommand("hiera.explainLookup", (about?: unknown) => documents.explain(about)),
    commands.registerCommand("hiera.evaluateKey", (about?: unknown) => evaluateKey(own, about)),
    commands.registerCommand("hiera.showEffectiveData", () => documents.effectiveData()),
    commands.registerCommand("hiera.showReach", () => documents.reach()),
    // Not in the palette: the command of a row of the view.
    commands.registerCommand("hiera.openPlace", openPlace),
    // Not in the palette: the command of the status bar's entry for a server that has ended.
    commands.registerCommand("hiera.offerRestart", (problem: string) => offerRestart(own, problem)),
    // Not in the palette: the command of a lens.
    commands.registerCommand("hiera.showPlaces", showPlaces),
  );
  await own.restart();
}

/** VS Code waits for it, so that no server outlives the window. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

/**
 * VS Code's client gives a server up that ended five times within three minutes. It has sent so many notifications by
 * then that the window does not show another one.
 */
async function offerRestart(server: Server, problem: string): Promise<void> {
  const answer = await window.showQuickPick(["Restart Server", "Show Output"], { title: "Hiera", placeHolder: problem });
  if (answer === "Restart Server") await server.restart();
  else if (answer === "Show Output") server.output.show();
}

function showVersion(context: ExtensionContext, server: Server): void {
  const { version } = context.extension.packageJSON as { version: string };
  const { health } = server;
  const program = health.state === "running" ? `hiera-ls ${health.program.version} at ${health.program.path}` : "no server is running";
  void window.showInformationMessage(`Hiera ${version}, ${program}`);
}
