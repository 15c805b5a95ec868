/**
 * Hiera in VS Code. Everything that is known of Hiera is known by the server; here are its places in the workbench.
 */
import { commands, window, workspace } from "vscode";
import type { ExtensionContext, QuickPickItem } from "vscode";
import { chooseConfig } from "./configs";
import { Documents } from "./documents";
import { evaluateKey } from "./evaluation";
import { HierarchyView, openPlace } from "./hierarchy";
import { restoreNode, selectNode } from "./nodes";
import { overrideFor } from "./override";
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
    commands.registerCommand("hiera.overrideFor", (uri?: unknown, position?: unknown) => overrideFor(own, uri, position)),
    commands.registerCommand("hiera.evaluateKey", (about?: unknown) => evaluateKey(own, about)),
    commands.registerCommand("hiera.showEffectiveData", () => documents.effectiveData()),
    commands.registerCommand("hiera.showReach", () => documents.reach()),
    commands.registerCommand("hiera.showConfig", () => documents.config()),
    // Not in the palette: the command of the status bar's entry for a server that runs.
    commands.registerCommand("hiera.showMenu", showMenu),
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

/** The commands about the server and the workspace, each with a line about its effect. */
async function showMenu(): Promise<void> {
  const items: readonly (QuickPickItem & { readonly command: string; readonly argument?: string })[] = [
    { label: "$(list-tree) Show the Governing hiera.yaml", detail: "The levels, the other configs, and the setting that chooses one of them", command: "hiera.showConfig" },
    { label: "$(server) Select Node", detail: "The node for which values are shown", command: "hiera.selectNode" },
    { label: "$(diff) Show the Reach of Unsaved Edits", detail: "The keys and nodes that the edits change", command: "hiera.showReach" },
    { label: "$(settings-gear) Open Settings", detail: "The settings of the extension", command: "workbench.action.openSettings", argument: "@ext:hiera-ls.hiera-ls" },
    { label: "$(output) Show Output", detail: "The messages of the server", command: "hiera.showOutput" },
    { label: "$(info) Show Version", detail: "That of the extension, and that of the server with its path", command: "hiera.showVersion" },
    { label: "$(debug-restart) Restart Server", detail: "All files are read again", command: "hiera.restartServer" },
  ];
  const picked = await window.showQuickPick(items, { title: "Hiera" });
  if (picked) await commands.executeCommand(picked.command, picked.argument);
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
