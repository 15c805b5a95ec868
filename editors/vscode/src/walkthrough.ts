/**
 * Which steps of the walkthrough are done. VS Code puts a walkthrough together when it is opened, and ticks a step when a context key of it
 * becomes true after that. A key that is true before will never tick it, so that keys are true only for a moment.
 */
import { commands, window } from "vscode";
import type { Disposable } from "vscode";

type Step = "read" | "picked" | "hovered" | "mended" | "explained";

/** The delays after a tab was opened, in milliseconds, after which VS Code gets the finished steps: a short one, and one for slow machines. */
const DELAYS = [1_500, 6_000];
/** How long a context key is true, in milliseconds. */
const MOMENT = 400;

export class Walkthrough implements Disposable {
  private readonly steps = new Set<Step>();
  private readonly listening: Disposable;
  private timers: NodeJS.Timeout[] = [];

  constructor() {
    this.listening = window.tabGroups.onDidChangeTabs(({ opened }) => {
      // The walkthrough has no kind of input of its own.
      if (!opened.some((tab) => tab.input === undefined)) return;
      this.forget();
      this.timers = DELAYS.map((delay) =>
        setTimeout(() => {
          for (const step of this.steps) this.tell(step);
        }, delay),
      );
    });
  }

  dispose(): void {
    this.forget();
    this.listening.dispose();
  }

  private forget(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  done(step: Step): void {
    if (this.steps.has(step)) return;
    this.steps.add(step);
    this.tell(step);
  }

  private tell(step: Step): void {
    const set = (value: boolean) => void commands.executeCommand("setContext", `hiera.done.${step}`, value);
    set(true);
    setTimeout(() => {
      set(false);
    }, MOMENT);
  }
}
