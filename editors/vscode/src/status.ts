/**
 * Three entries of the status bar: how the server is, whose values are shown, and what the edits change.
 */
import { commands, StatusBarAlignment, ThemeColor, Uri, window, workspace } from "vscode";
import type { Disposable } from "vscode";
import type { FileWithoutConfig } from "./protocol";
import type { Health, Server } from "./server";

export class StatusBar implements Disposable {
  private readonly server = window.createStatusBarItem("server", StatusBarAlignment.Left, 1);
  private readonly node = window.createStatusBarItem("node", StatusBarAlignment.Left, 0);
  private readonly reach = window.createStatusBarItem("reach", StatusBarAlignment.Left, -1);

  constructor(server: Server) {
    this.server.name = "Hiera: server";
    this.server.command = "hiera.showMenu";
    this.node.name = "Hiera: node";
    this.node.command = "hiera.selectNode";
    this.reach.name = "Hiera: reach of edits";
    this.reach.command = "hiera.showReach";
    server.onDidChange((health) => {
      this.show(health);
    });
  }

  dispose(): void {
    this.server.dispose();
    this.node.dispose();
    this.reach.dispose();
  }

  private show(health: Health): void {
    void commands.executeCommand("setContext", "hiera.active", health.state !== "absent");
    this.showReach(health.state === "running" ? (health.status?.reach ?? null) : null);
    if (health.state === "absent") {
      this.server.hide();
      this.node.hide();
      return;
    }
    this.server.command = "hiera.showMenu";
    this.server.backgroundColor = health.state === "stopped" ? new ThemeColor("statusBarItem.errorBackground") : undefined;
    switch (health.state) {
      case "starting":
        this.server.text = "$(sync~spin) Hiera";
        this.server.tooltip = "hiera-ls is starting";
        break;
      case "stopped":
        this.server.text = "$(error) Hiera";
        this.server.tooltip = `${health.problem}\nClick to restart it.`;
        this.server.command = { title: "Restart", command: "hiera.offerRestart", arguments: [health.problem] };
        break;
      case "running": {
        const { status, program } = health;
        const title = `hiera-ls ${program.version} (${program.origin})`;
        if (status === undefined || status.state === "reading") {
          this.server.text = "$(sync~spin) Hiera";
          this.server.tooltip = `${title}: reading the hierarchy`;
          break;
        }
        this.server.text = `$(list-tree) Hiera: ${counted(status.keys, "key")}`;
        const parts = [counted(status.environments, "environment"), counted(status.files, "file"), counted(status.keys, "key"), counted(status.nodes, "node")];
        const without = status.withoutConfig ?? [];
        if (without.length > 0) {
          this.server.text = "$(warning) Hiera: no governing hiera.yaml";
          this.server.backgroundColor = new ThemeColor("statusBarItem.warningBackground");
          this.server.command = "hiera.chooseConfig";
        }
        this.server.tooltip = [`${title}: ${parts.join(", ")}`, ...without.map(ungoverned), ...status.governing].join("\n");
        this.node.text = `$(server) ${status.selected ?? "any node"}`;
        this.node.tooltip =
          status.selected === null ? "Values are shown for all nodes that read the file. Select a node." : `Values are shown for ${status.selected}.`;
        this.node.show();
      }
    }
    this.server.show();
  }

  private showReach(reach: string | null): void {
    if (reach === null) {
      this.reach.hide();
      return;
    }
    this.reach.text = `$(diff) ${reach}`;
    this.reach.tooltip = "The keys and nodes that the edits in this window change. Click for the report.";
    this.reach.show();
  }
}

/** `No hiera.yaml governs hieradata/web.yaml; candidates: docker/live.yaml, spec/fixtures/hiera.yaml`. */
function ungoverned(file: FileWithoutConfig): string {
  const candidates = file.candidates.map((candidate) => candidate.hieraConfig).join(", ");
  return `No hiera.yaml governs ${workspace.asRelativePath(Uri.parse(file.uri))}; candidates: ${candidates}`;
}

/** `1 key`, `2 keys`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
