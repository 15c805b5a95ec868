/**
 * The server's program: the one that the settings name, the one in the extension, or the one on `PATH`.
 */
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { workspace } from "vscode";
import type { ExtensionContext } from "vscode";

/** The oldest server that has what this extension asks for. */
export const OLDEST = "0.1.0";

const NAME = process.platform === "win32" ? "hiera-ls.exe" : "hiera-ls";
const PATIENCE = 10_000;

export interface Program {
  readonly path: string;
  readonly version: string;
  readonly origin: "setting" | "extension" | "PATH";
}

/** There is no program that can be used; the message says why, for the user. */
export class NoProgram extends Error {}

/** Finds the program and asks it for its version. */
export async function findProgram(context: ExtensionContext): Promise<Program> {
  const { file, origin } = locate(context);
  let answer: string;
  try {
    answer = (await promisify(execFile)(file, ["--version"], { timeout: PATIENCE })).stdout;
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new NoProgram(`the program ${file} (${named(origin)}) cannot be run: ${why ?? ""}`);
  }
  const version = /^hiera-ls (\d+\.\d+\.\d+)/.exec(answer)?.[1];
  if (version === undefined) throw new NoProgram(`the program ${file} (${named(origin)}) is not hiera-ls`);
  if (isOlder(version, OLDEST)) {
    throw new NoProgram(`hiera-ls ${version} at ${file} (${named(origin)}) is too old: this extension needs ${OLDEST} or newer`);
  }
  return { path: file, version, origin };
}

function locate(context: ExtensionContext): { file: string; origin: Program["origin"] } {
  const set = workspace.getConfiguration("hiera").get<string | null>("server.path");
  if (set) {
    const file = set.startsWith("~/") ? path.join(os.homedir(), set.slice(2)) : set;
    if (!path.isAbsolute(file)) throw new NoProgram(`the setting hiera.server.path must be an absolute path: ${set}`);
    if (!fs.existsSync(file)) throw new NoProgram(`the setting hiera.server.path names a program that does not exist: ${set}`);
    return { file, origin: "setting" };
  }
  const bundled = path.join(context.extensionPath, "server", NAME);
  if (fs.existsSync(bundled)) {
    // A package that was built on Windows does not carry the executable bit.
    if (process.platform !== "win32" && (fs.statSync(bundled).mode & 0o100) === 0) fs.chmodSync(bundled, 0o755);
    return { file: bundled, origin: "extension" };
  }
  const onPath = (process.env.PATH ?? "")
    .split(path.delimiter)
    // A relative path would be sought in the workspace, which may hold any program.
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, NAME))
    .find((file) => fs.existsSync(file));
  if (onPath === undefined) {
    throw new NoProgram("hiera-ls was not found: this package comes without it, it is not on PATH, and the setting hiera.server.path is not set");
  }
  return { file: onPath, origin: "PATH" };
}

function named(origin: Program["origin"]): string {
  return { setting: "from the setting hiera.server.path", extension: "part of this extension", PATH: "from PATH" }[origin];
}

function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  const different = a?.findIndex((number, at) => number !== b?.[at]) ?? -1;
  return different >= 0 && (a?.[different] ?? 0) < (b?.[different] ?? 0);
}
