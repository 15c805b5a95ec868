/**
 * Hides findings that another YAML server shows, too: broken syntax and duplicate keys.
 * Shows the server's findings again after a task that has replaced them.
 */
import { DiagnosticSeverity, Disposable, languages, tasks } from "vscode";
import type { Diagnostic, DiagnosticCollection, Uri } from "vscode";
import type { DiagnosticCollectionProvider } from "vscode-languageclient/node";

type Show = (uri: Uri, diagnostics: Diagnostic[]) => void;

/** The codes of findings that any YAML server has, each with a function that returns whether both findings are the same. */
const COMMON: Readonly<Record<string, (ours: Diagnostic, theirs: Diagnostic) => boolean>> = {
  // Parsers report one mistake at different places: the first error of a file is about the same mistake.
  "syntax-error": () => true,
  "duplicate-key": (ours, theirs) => theirs.range.start.line === ours.range.start.line && /duplicate|unique/i.test(theirs.message),
};

/** The delays after a task's end, in milliseconds. VS Code removes the findings of the task's owner 100 ms after the end, a busy window later. */
const TASK_DELAYS = [300, 2_000, 10_000];

export class Doubles implements DiagnosticCollectionProvider {
  /** The server's findings for each document, and those of them that are shown. */
  private readonly ours = new Map<string, { uri: Uri; all: Diagnostic[]; shown: Diagnostic[]; show: Show }>();
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();
  private listening: Disposable | undefined;
  /** The collections of the client: of findings that it asks for, and of those that it is sent. */
  private readonly collections = new Set<DiagnosticCollection>();

  /** `onFewer` is called when a document has fewer findings than before. */
  constructor(private readonly onFewer: () => void) {}

  /** Creates a collection that shows those of its findings that no other server shows. */
  create(name: string | undefined): DiagnosticCollection {
    this.listening ??= Disposable.from(
      languages.onDidChangeDiagnostics(({ uris }) => {
        for (const uri of uris) this.update(uri);
      }),
      tasks.onDidEndTaskProcess(() => {
        this.restoreLater();
      }),
    );
    const collection = languages.createDiagnosticCollection(name);
    const show: Show = (uri, diagnostics) => {
      collection.set(uri, diagnostics);
    };
    const filtered = new Proxy(collection, {
      get: (target, member) => {
        if (member === "set") {
          return (uri: Uri, diagnostics: Diagnostic[] | undefined) => {
            this.handle(uri, diagnostics ?? [], show);
          };
        }
        if (member === "delete") {
          return (uri: Uri) => {
            this.ours.delete(uri.toString());
            target.delete(uri);
          };
        }
        const value: unknown = Reflect.get(target, member);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    this.collections.add(filtered);
    return filtered;
  }

  /** Ends a collection of {@link create}; with the last one, all else. */
  dispose(collection: DiagnosticCollection): void {
    this.collections.delete(collection);
    collection.dispose();
    if (this.collections.size > 0) return;
    this.ours.clear();
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.listening?.dispose();
    this.listening = undefined;
  }

  private handle(uri: Uri, diagnostics: Diagnostic[], show: Show): void {
    if ((this.ours.get(uri.toString())?.all.length ?? 0) > diagnostics.length) this.onFewer();
    const shown = this.alone(uri, diagnostics);
    this.ours.set(uri.toString(), { uri, all: diagnostics, shown, show });
    show(uri, shown);
  }

  /**
   * Shows all findings again after a task. The matcher `$hiera-ls` and the server have one owner, so that a finding is shown once:
   * a task with that matcher replaces the server's findings, and removes those that the task does not print.
   * VS Code does not tell which matcher a task has, if its definition changes a part of the matcher.
   */
  private restoreLater(): void {
    for (const delay of TASK_DELAYS) {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        for (const { uri, shown, show } of this.ours.values()) if (shown.length > 0) show(uri, shown);
      }, delay);
      this.timers.add(timer);
    }
  }

  private update(uri: Uri): void {
    const known = this.ours.get(uri.toString());
    if (!known) return;
    const shown = this.alone(uri, known.all);
    // A shown list is a change, too, which must come to an end.
    if (shown.length === known.shown.length && shown.every((finding, at) => finding === known.shown[at])) return;
    known.shown = shown;
    known.show(uri, shown);
  }

  private alone(uri: Uri, diagnostics: Diagnostic[]): Diagnostic[] {
    const theirs = languages
      .getDiagnostics(uri)
      .filter((finding) => finding.source !== "hiera-ls" && finding.severity === DiagnosticSeverity.Error);
    return diagnostics.filter((finding) => {
      const same = COMMON[code(finding)];
      return same === undefined || !theirs.some((other) => same(finding, other));
    });
  }
}

function code(finding: Diagnostic): string {
  const value = typeof finding.code === "object" ? finding.code.value : finding.code;
  return String(value ?? "");
}
