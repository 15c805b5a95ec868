/**
 * The client's life: started where there is a `hiera.yaml`, made anew when the program, the environments or the trust in the workspace change.
 */
import * as path from "node:path";
import { commands, Disposable, EventEmitter, Uri, window, workspace } from "vscode";
import type { ExtensionContext, LogOutputChannel } from "vscode";
import { ErrorAction, LanguageClient, State } from "vscode-languageclient/node";
import type { ClientCapabilities, ErrorHandler, FeatureState, LanguageClientOptions, StaticFeature } from "vscode-languageclient/node";
import { Doubles } from "./doubles";
import { CONFIG, environmentOf, environments, isWithin, selector } from "./environments";
import { findProgram, NoProgram } from "./program";
import type { Program } from "./program";
import { statusNotification } from "./protocol";
import type { Status } from "./protocol";
import { RULE_PAGES } from "./rules";
import { SECTION, Settings } from "./settings";
import { Walkthrough } from "./walkthrough";

/** What a user can do from a hover. */
const HOVER_ACTIONS = { explain: "command:hiera.explainLookup", selectNode: "command:hiera.selectNode", evaluate: "command:hiera.evaluateKey" };

/** What commands say that cannot do anything. */
export const NO_SERVER = "Hiera: no server is running. It starts in folders with a hiera.yaml.";

/** How the server is, for the status bar. */
export type Health =
  | { readonly state: "absent" }
  | { readonly state: "starting" }
  | { readonly state: "running"; readonly program: Program; readonly status: Status | undefined }
  | { readonly state: "stopped"; readonly problem: string };

export class Server implements Disposable {
  /** The log of the server and the extension. */
  readonly output: LogOutputChannel;
  readonly settings: Settings;
  readonly walkthrough = new Walkthrough();
  private readonly changes = new EventEmitter<Health>();
  private readonly starts = new EventEmitter<LanguageClient>();
  /** Fires at every change of the server's health, and of its status. */
  readonly onDidChange = this.changes.event;
  /** Fires for a server that is ready for requests: a new one, or one that was started again after it died. */
  readonly onDidStart = this.starts.event;
  private current: LanguageClient | undefined;
  /** The client that is about to be stopped: its events are ignored. */
  private leaving: LanguageClient | undefined;
  private roots: readonly string[] = [];
  private state: Health = { state: "absent" };
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly context: ExtensionContext) {
    this.settings = new Settings(context.extension.packageJSON);
    this.output = window.createOutputChannel("Hiera", { log: true });
  }

  get health(): Health {
    return this.state;
  }

  /** The client, if it can be asked. */
  get client(): LanguageClient | undefined {
    return this.state.state === "running" ? this.current : undefined;
  }

  /** Whether documents of this address are the server's. */
  isAbout(path: string): boolean {
    return this.roots.some((root) => isWithin(path, root));
  }

  /** Starts the server if there is anything for it to do, or starts it anew. One after the other, however often it is asked for. */
  restart(): Promise<void> {
    this.leaving = this.current;
    return this.enqueue(() => this.anew());
  }

  /** Starts it anew if it serves other environments than there are now. */
  lookAgain(): Promise<void> {
    return this.enqueue(async () => {
      const roots = await environments();
      if (roots.join("\0") !== this.roots.join("\0")) await this.anew();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.end());
  }

  /** Runs one step after the other, even if the one before failed. */
  private enqueue(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step, step);
    return this.queue;
  }

  private async anew(): Promise<void> {
    this.leaving = this.current;
    await this.end();
    await this.begin();
  }

  dispose(): void {
    this.changes.dispose();
    this.starts.dispose();
    this.walkthrough.dispose();
    this.output.dispose();
  }

  private async begin(): Promise<void> {
    try {
      this.roots = await environments();
      if (this.roots.length === 0) {
        this.output.info("no hiera.yaml in this workspace: nothing is started");
        this.change({ state: "absent" });
        return;
      }
      this.change({ state: "starting" });
      const program = await findProgram(this.context);
      this.output.info(`hiera-ls ${program.version} (${program.origin}): ${program.path}`);
      this.current = this.newClient(program);
      await this.current.start();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.output.error(problem);
      this.change({ state: "stopped", problem });
      if (error instanceof NoProgram) this.tell(problem);
    }
  }

  private async end(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    this.change({ state: "absent" });
    try {
      // One that never started, or died, has nothing to be stopped.
      if (client?.state === State.Running) await client.stop();
      await client?.dispose();
    } catch (error) {
      // A server that died meanwhile gives an error here; the next one must start nevertheless.
      this.output.debug(`the server that was to be stopped: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private newClient(program: Program): LanguageClient {
    let restarts: ErrorHandler | undefined;
    const options: LanguageClientOptions = {
      documentSelector: selector(this.roots),
      outputChannel: this.output,
      initializationOptions: this.settings.initial(),
      // Of the addresses in a hover that run a command, VS Code follows these and no others.
      markdown: { isTrusted: { enabledCommands: Object.values(HOVER_ACTIONS).map((address) => address.slice("command:".length)) } },
      // The client asks for findings. By itself it does so when a document is opened, and no more.
      diagnosticPullOptions: { onChange: true, onSave: true, onFocus: true },
      diagnosticCollectionProvider: new Doubles(() => {
        this.walkthrough.done("mended");
      }),
      errorHandler: {
        // A server that dies while the client writes breaks the pipe before its end is known. By default the client stops for good then.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => (restarts ??= client.createDefaultErrorHandler()).closed(),
      },
      middleware: {
        provideHover: async (document, position, token, next) => {
          const hover = await next(document, position, token);
          if (hover) this.walkthrough.done("hovered");
          return hover;
        },
        window: {
          // The documentation of code actions is Markdown, which is read as a preview.
          showDocument: async (params, token, next) => {
            const uri = Uri.parse(params.uri);
            if (uri.scheme !== "hiera" || !uri.path.endsWith(".md")) return next(params, token);
            await commands.executeCommand("markdown.showPreview", uri);
            return { success: true };
          },
        },
        workspace: {
          didChangeConfiguration: async (sections, next) => {
            // A setting that makes a new client is no news for the old one, which would complain that it has ended.
            if (this.leaving !== client) await next(sections);
          },
          configuration: (params) => params.items.map((item) => (item.section === SECTION ? this.settings.answer(item.scopeUri) : null)),
        },
      },
    };
    // Without `transport` it is standard input and output, and nothing is added to the arguments.
    const client = new LanguageClient(SECTION, "Hiera", { command: program.path, args: ["server"] }, options);
    client.registerFeature(new AnnouncesStatus());
    client.onDidChangeState(({ newState }) => {
      if (this.current !== client) return;
      switch (newState) {
        case State.Starting:
          this.change({ state: "starting" });
          break;
        case State.Running:
          this.change({ state: "running", program, status: undefined });
          this.starts.fire(client);
          break;
        case State.Stopped:
        case State.StartFailed:
          this.change({ state: "stopped", problem: "the server has ended; the output tells more" });
          break;
      }
    });
    client.onNotification(statusNotification, (status) => {
      if (this.current !== client || this.state.state !== "running") return;
      this.walkthrough.done("read");
      if (status.selected !== null) this.walkthrough.done("picked");
      this.change({ state: "running", program, status });
    });
    return client;
  }

  private change(health: Health): void {
    this.state = health;
    this.changes.fire(health);
  }

  private tell(problem: string): void {
    void window.showErrorMessage(`Hiera: ${problem}`, "Open Settings", "Show Output").then(async (answer) => {
      if (answer === "Open Settings") {
        await commands.executeCommand("workbench.action.openSettings", "hiera.server.path");
      } else if (answer === "Show Output") this.output.show();
    });
  }
}

/** Announces that the client handles the notification `hiera/status`, the commands of hovers, lenses and code actions, and the addresses of the rules' pages. */
class AnnouncesStatus implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    const commands = { showPlaces: "hiera.showPlaces", showReach: "hiera.showReach", chooseOverride: "hiera.overrideFor" };
    const hiera = { status: true, hoverActions: HOVER_ACTIONS, ...commands, rulePages: RULE_PAGES };
    capabilities.experimental = { ...experimental, hiera };
  }
  initialize(): void {
    // There is nothing to be set up: the notification comes or it does not.
  }
  getState(): FeatureState {
    return { kind: "static" };
  }
  clear(): void {
    // Nor to be taken down.
  }
}

/** The delays of two further checks after the start, in milliseconds: while a window starts, VS Code may lose events of files. */
const SECOND_LOOKS = [3_000, 15_000];

/** Calls `then` when a `hiera.yaml` comes or goes, and when one may have come or gone unseen: not every file is watched (`files.watcherExclude`). */
export function watchConfigs(then: () => void): Disposable {
  const watcher = workspace.createFileSystemWatcher(`**/${CONFIG}`, false, true, false);
  watcher.onDidCreate(then);
  watcher.onDidDelete(then);
  const shown = workspace.onDidOpenTextDocument((document) => {
    if (path.basename(document.fileName) === CONFIG || environmentOf(document) !== undefined) then();
  });
  const looks = SECOND_LOOKS.map((delay) => setTimeout(then, delay));
  const forgotten = new Disposable(() => {
    for (const look of looks) clearTimeout(look);
  });
  return Disposable.from(watcher, shown, forgotten);
}
