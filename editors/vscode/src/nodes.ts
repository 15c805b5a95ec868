/**
 * The node whose values are shown: picked from the nodes that the server knows, stored for the workspace, sent to each new server.
 */
import { QuickPickItemKind, window, workspace } from "vscode";
import type { ExtensionContext, LogOutputChannel, QuickPickItem } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { nodesRequest, selectNodeRequest } from "./protocol";
import { NO_SERVER } from "./server";
import type { Server } from "./server";

const MEMORY = "selectedNode";

type Item = QuickPickItem & { readonly node: string | null };

/** The command: picks a node, or none. */
export async function selectNode(context: ExtensionContext, server: Server): Promise<void> {
  const client = server.client;
  if (!client) {
    void window.showInformationMessage(NO_SERVER);
    return;
  }
  const uri = window.activeTextEditor?.document.uri;
  const about = uri?.scheme === "file" ? { textDocument: { uri: client.code2ProtocolConverter.asUri(uri) } } : {};
  const [seeing, all] = await Promise.all([client.sendRequest(nodesRequest, about), client.sendRequest(nodesRequest, {})]);
  const sees = new Set(seeing.nodes.map((node) => node.name));
  const item = (node: { name: string; source: string }): Item => ({
    label: node.name,
    description: node.name === all.selected ? "selected" : "",
    detail: workspace.asRelativePath(node.source),
    node: node.name,
  });
  const part = (title: string, items: Item[]): Item[] =>
    items.length === 0 ? [] : [{ label: title, kind: QuickPickItemKind.Separator, node: null }, ...items];
  const own = all.nodes.filter((node) => "textDocument" in about && sees.has(node.name));
  const other = all.nodes.filter((node) => !own.includes(node));
  const kinds = all.kinds ?? [];
  const items: Item[] = [
    { label: "Any node that reads the file", description: all.selected === null ? "selected" : "", node: null },
    ...part("read this file", own.map(item)),
    ...part(own.length > 0 ? "do not read it" : "nodes", other.map(item)),
    ...part("kinds of nodes, from the names of files", kinds.map(item)),
  ];
  const placeHolder = all.known === 0 && kinds.length === 0 ? "No nodes are known: name files of facts in the setting nodes.sources" : "Whose values are shown?";
  const picked = await window.showQuickPick(items, { title: "Hiera: Select Node", placeHolder, matchOnDetail: true });
  if (!picked) return;
  await client.sendRequest(selectNodeRequest, { name: picked.node });
  await context.workspaceState.update(MEMORY, picked.node ?? undefined);
}

/** Tells a server that has just started which node was picked. */
export async function restoreNode(context: ExtensionContext, client: LanguageClient, log: LogOutputChannel): Promise<void> {
  const name = context.workspaceState.get<string>(MEMORY);
  if (name === undefined) return;
  try {
    await client.sendRequest(selectNodeRequest, { name });
  } catch (error) {
    // It may be gone from the sources, or come back with the next change of them.
    log.warn(`the node that was selected is not selected again: ${error instanceof Error ? error.message : String(error)}`);
  }
}
