/**
 * Which `hiera.yaml` governs a data file that none does: picked from the server's candidates, written to `.hiera-ls.yaml` after a question.
 */
import { promises as fs } from "node:fs";
import * as path from "node:path";
import { Uri, window, workspace } from "vscode";
import type { QuickPickItem } from "vscode";
import type { ConfigCandidate, FileWithoutConfig } from "./protocol";
import { NO_SERVER } from "./server";
import type { Server } from "./server";
import { counted } from "./status";

type Item = QuickPickItem & { readonly candidate: ConfigCandidate };

/** The command: picks a candidate for the file that is shown, or else for the first that has no config. */
export async function chooseConfig(server: Server): Promise<void> {
  const { health } = server;
  if (health.state !== "running") {
    void window.showInformationMessage(NO_SERVER);
    return;
  }
  const all = health.status?.withoutConfig ?? [];
  const shown = window.activeTextEditor?.document.uri.toString();
  const file = all.find(({ uri }) => Uri.parse(uri).toString() === shown) ?? all[0];
  if (!file) {
    void window.showInformationMessage("Hiera: every open file that looks like data has a governing hiera.yaml, or there is none to choose.");
    return;
  }
  const items = file.candidates.map((candidate): Item => {
    const reads = candidate.readsFile ? ", this one too" : "";
    return { label: candidate.hieraConfig, description: `reads ${counted(candidate.dataFiles, "file")}${reads}`, candidate };
  });
  const placeHolder = `Which config governs ${workspace.asRelativePath(Uri.parse(file.uri))}?`;
  const picked = await window.showQuickPick(items, { title: "Hiera: Choose the Governing hiera.yaml", placeHolder });
  if (picked) await write(file, picked.candidate);
}

/** Writes the setting, if the user agrees. */
async function write(file: FileWithoutConfig, candidate: ConfigCandidate): Promise<void> {
  const settings = Uri.parse(file.settings).fsPath;
  const name = path.basename(settings);
  const line = `hieraConfig: ${JSON.stringify(candidate.hieraConfig)}`;
  const before = await textOf(settings);
  const after = withSetting(before ?? "", line);
  if (after === undefined) {
    void window.showWarningMessage(`Hiera: ${name} is no block of settings, so that nothing is written. Add ${line} yourself.`);
    return;
  }
  const replaced = before === undefined ? undefined : SETTING.exec(before)?.[0];
  const question = replaced === undefined ? `Write ${line} into ${name}?` : `Replace ${replaced} with ${line} in ${name}?`;
  const answer = replaced === undefined ? "Write" : "Replace";
  const detail = `It names the config of all environments below ${path.dirname(settings)}.`;
  if ((await window.showInformationMessage(question, { modal: true, detail }, answer)) !== answer) return;
  if ((await textOf(settings)) !== before) {
    void window.showWarningMessage(`Hiera: ${name} has changed meanwhile, so that nothing is written.`);
    return;
  }
  await fs.writeFile(settings, after);
}

/** The setting in a file of settings, up to the end of its line. */
const SETTING = /^(?:hieraConfig|"hieraConfig"|'hieraConfig')[ \t]*:.*$/m;

/** The settings with this line in place of the one that there is, or after all others; `undefined` for a text to which no line can be added. */
export function withSetting(text: string, line: string): string | undefined {
  // A value on lines of its own, a hash in braces, and a second document are for the user to edit.
  const isBlock = text.split(/\r?\n/).every((one, number) => /^(?:\s|#|$)/.test(one) || (number === 0 && /^---\s*$/.test(one)) || /^[\w"'-]+[ \t]*:(?:\s|$)/.test(one));
  const found = SETTING.exec(text);
  if (!isBlock || found !== null && /^[^:]*:[ \t]*(?:[|>&!].*|#.*)?$/.test(found[0])) return undefined;
  if (found) return text.slice(0, found.index) + line + text.slice(found.index + found[0].length);
  return text === "" || text.endsWith("\n") ? `${text}${line}\n` : `${text}\n${line}\n`;
}

/** The text of a file; `undefined` where there is none. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
