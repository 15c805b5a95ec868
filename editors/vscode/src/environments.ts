/**
 * Where Hiera is: the folders with a `hiera.yaml`. The extension does nothing outside of them.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { RelativePattern, Uri, workspace } from "vscode";
import type { TextDocument, WorkspaceFolder } from "vscode";
import type { DocumentSelector } from "vscode-languageclient/node";

export const CONFIG = "hiera.yaml";

/** The endings of the names of data files. */
const ENDINGS = ["yaml", "yml", "eyaml", "json", "conf"];
const DATA = new RegExp(`\\.(${ENDINGS.join("|")})$`);

/** What is surely no environment, and may be large. */
const PASSED_OVER = "**/{.git,node_modules,.bundle,vendor,.vagrant}/**";

/** More folders than this are no fleet's, but an archive: the workspace folder as a whole will do. */
const MANY = 500;

/** The outermost folders with a `hiera.yaml`: in the workspace, above it when a folder within an environment was opened, and above open files that lie in no folder of it. */
export async function environments(): Promise<string[]> {
  const folders = (workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
  const alone = workspace.textDocuments.map(environmentOf).filter((root) => root !== undefined);
  const roots = [...(await Promise.all(folders.map(rootsOf))).flat(), ...alone];
  // Modules have a hiera.yaml of their own.
  return [...new Set(roots)].filter((root) => !roots.some((other) => other !== root && isWithin(root, other))).sort();
}

async function rootsOf(folder: WorkspaceFolder): Promise<string[]> {
  // Folders below an environment belong to it, and need not be searched.
  const above = outermost(folder.uri.fsPath);
  if (above !== undefined) return [above];
  const found = await workspace.findFiles(new RelativePattern(folder, `**/${CONFIG}`), PASSED_OVER, MANY);
  return found.length < MANY ? found.map((uri) => path.dirname(uri.fsPath)) : [folder.uri.fsPath];
}

/** The documents that the client sends to the server: those that may be data or configuration of these environments. */
export function selector(roots: readonly string[]): DocumentSelector {
  const pattern = `**/*.{${ENDINGS.join(",")}}`;
  return roots.map((root) => ({ scheme: "file", pattern: { baseUri: Uri.file(root).toString(), pattern } }));
}

/** The environment of a document that was opened without its folder; nothing for others. */
export function environmentOf(document: TextDocument): string | undefined {
  const isAlone = document.uri.scheme === "file" && workspace.getWorkspaceFolder(document.uri) === undefined;
  return isAlone && DATA.test(document.fileName) ? outermost(path.dirname(document.fileName)) : undefined;
}

function outermost(folder: string): string | undefined {
  let root: string | undefined;
  for (let at = folder, up = path.dirname(at); at !== up; at = up, up = path.dirname(at)) {
    if (fs.existsSync(path.join(at, CONFIG))) root = at;
  }
  return root;
}

/** Whether a path lies below a folder. */
export function isWithin(folder: string, root: string): boolean {
  const way = path.relative(root, folder);
  return way !== "" && !way.startsWith("..") && !path.isAbsolute(way);
}
