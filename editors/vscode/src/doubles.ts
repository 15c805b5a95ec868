/**
 * No finding twice: another YAML server tells of broken syntax and of duplicate keys, too. Where one does, ours step back.
 */
import { DiagnosticSeverity, languages } from "vscode";
import type { Diagnostic, Disposable, Uri } from "vscode";

type Show = (uri: Uri, diagnostics: Diagnostic[]) => void;

/** Findings that any YAML server has, and how to tell that one is the same. */
const COMMON: Readonly<Record<string, (ours: Diagnostic, theirs: Diagnostic) => boolean>> = {
  // One slip makes readers stumble at different places: the first error of a file is about the same one.
  "syntax-error": () => true,
  "duplicate-key": (ours, theirs) => theirs.range.start.line === ours.range.start.line && /duplicate|unique/i.test(theirs.message),
};

export class Doubles implements Disposable {
  /** What the server said of each document, and what is shown of it. */
  private readonly ours = new Map<string, { all: Diagnostic[]; shown: Diagnostic[]; show: Show }>();
  private readonly listening: Disposable;

  constructor() {
    this.listening = languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris) this.update(uri);
    });
  }

  /** Shows the server's findings but for those that somebody else tells of. */
  handle(uri: Uri, diagnostics: Diagnostic[], show: Show): void {
    const shown = this.alone(uri, diagnostics);
    this.ours.set(uri.toString(), { all: diagnostics, shown, show });
    show(uri, shown);
  }

  /** How many findings a document had when the server told of it last. */
  count(uri: Uri): number {
    return this.ours.get(uri.toString())?.all.length ?? 0;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private update(uri: Uri): void {
    const known = this.ours.get(uri.toString());
    if (!known) return;
    const shown = this.alone(uri, known.all);
    // What is shown is a change, too, which must come to an end.
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
