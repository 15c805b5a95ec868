/**
 * Evaluating a key with the functions of levels. The server asks the user, runs them and shows the outcome; it has the command only where
 * the user's own settings switch it on.
 */
import { commands, window } from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import { isNamed } from "./documents";
import { NO_SERVER } from "./server";
import type { Server } from "./server";

/** The server's command. */
const RUN_BACKENDS = "hiera.runBackends";

const SWITCHED_OFF = "Hiera: custom backends are switched off. In a workspace that you trust, the setting hiera.runBackends.enabled lets you evaluate keys with them.";

/** The command: the key at the cursor, or the one that a hover's link names. */
export async function evaluateKey(server: Server, about?: unknown): Promise<void> {
  const client = server.client;
  if (!client) {
    void window.showInformationMessage(NO_SERVER);
    return;
  }
  if (!client.initializeResult?.capabilities.executeCommandProvider?.commands.includes(RUN_BACKENDS)) {
    const answer = await window.showInformationMessage(SWITCHED_OFF, "Open Settings");
    if (answer) await commands.executeCommand("workbench.action.openSettings", "hiera.runBackends");
    return;
  }
  const argument = isNamed(about) ? { uri: about.uri, key: about.key } : atCursor(client.code2ProtocolConverter);
  if (!argument) {
    void window.showInformationMessage("Hiera: open a data file, and set the cursor on a key.");
    return;
  }
  await client.sendRequest(ExecuteCommandRequest.type, { command: RUN_BACKENDS, arguments: [argument] });
}

function atCursor(converter: NonNullable<Server["client"]>["code2ProtocolConverter"]) {
  const editor = window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") return undefined;
  return { uri: converter.asUri(editor.document.uri), position: converter.asPosition(editor.selection.active) };
}
