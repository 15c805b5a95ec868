/**
 * The settings that the server gets: only those that the user has set. Defaults are the server's own: sent along, they would
 * win over the repository's `.hiera-ls.yaml`.
 */
import { Uri, workspace } from "vscode";

export const SECTION = "hiera";

interface Property {
  readonly scope: string;
}

/** The server's settings, by who may set them. */
export class Settings {
  /** Those that a workspace may set, too. */
  private readonly shared: readonly string[];
  /** Those that concern secrets, or let code of a repository run: the user's own alone. */
  private readonly users: readonly string[];

  /** Takes the extension's manifest. */
  constructor(manifest: unknown) {
    const parts = (manifest as { contributes: { configuration: { properties: Record<string, Property> }[] } }).contributes.configuration;
    // The first part is the extension's own; the others are the server's schema.
    const all = parts.slice(1).flatMap((part) => Object.entries(part.properties));
    const names = (wanted: (property: Property) => boolean) =>
      all.filter(([, property]) => wanted(property)).map(([name]) => name.slice(SECTION.length + 1));
    this.users = names(({ scope }) => scope === "machine");
    this.shared = names(({ scope }) => scope !== "machine");
  }

  /** What the server asks for: the settings of a folder, or without one those that hold for all folders. */
  answer(folder?: string): Record<string, unknown> {
    const configuration = workspace.getConfiguration(SECTION, folder === undefined ? null : Uri.parse(folder));
    const set = this.shared.filter((name) => {
      const found = configuration.inspect(name);
      return [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
    });
    // Not the parts: VS Code merges hashes that are set in several places.
    return nested(set.map((name) => [name, configuration.get(name)]));
  }

  /** What the server takes for the user's own, at its start: nothing of it can come from a file of the workspace. In Restricted Mode no code of a workspace runs. */
  initial(): Record<string, unknown> {
    const configuration = workspace.getConfiguration(SECTION);
    const allowed = this.users.filter((name) => workspace.isTrusted || !name.startsWith("runBackends."));
    const values = allowed.map((name) => [name, configuration.inspect(name)?.globalValue] as const);
    return nested(values.filter(([, value]) => value !== undefined));
  }

  /** Whether a change of these needs a new server. */
  needsRestart(isAffected: (name: string) => boolean): boolean {
    return isAffected(`${SECTION}.server`) || this.users.some((name) => isAffected(`${SECTION}.${name}`));
  }
}

/** Values by dotted names, as hashes within hashes. */
function nested(values: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const way = name.split(".");
    const last = way.pop() ?? name;
    let at = all;
    for (const step of way) at = (at[step] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return all;
}
