/**
 * The server's own messages, beside those of the Language Server Protocol: `docs/protocol.md` of the repository.
 */
import { NotificationType, RequestType } from "vscode-languageclient/node";
import type { Location, Position, Range, TextDocumentIdentifier, WorkspaceEdit } from "vscode-languageclient/node";

/** What the server knows of the workspace. */
export interface Status {
  readonly state: "reading" | "ready";
  readonly environments: number;
  readonly files: number;
  readonly keys: number;
  readonly nodes: number;
  /** The node whose values are shown. */
  readonly selected: string | null;
  /** A line for each environment: its `hiera.yaml`, its data files, and the sources of its nodes. */
  readonly governing: readonly string[];
  /** The keys and nodes that the texts of the editor change, in words; `null` where there are no edits. Older servers do not send it. */
  readonly reach?: string | null;
  /** The open files that look like Hiera data and that no `hiera.yaml` governs, where there is a config that could. Older servers do not send it. */
  readonly withoutConfig?: readonly FileWithoutConfig[];
}

export interface FileWithoutConfig {
  readonly uri: string;
  /** The settings file that may name the config. */
  readonly settings: string;
  readonly candidates: readonly ConfigCandidate[];
}

export interface ConfigCandidate {
  readonly uri: string;
  /** What the setting `hieraConfig` has to be. */
  readonly hieraConfig: string;
  readonly dataFiles: number;
  /** Whether it reads the open file. */
  readonly readsFile: boolean;
}

/** Sent when the status has changed, to clients that announce `experimental.hiera.status`. */
export const statusNotification = new NotificationType<Status>("hiera/status");

export interface NodeItem {
  readonly name: string;
  /** The file that its facts come from. */
  readonly source: string;
}

export interface Nodes {
  readonly selected: string | null;
  readonly nodes: readonly NodeItem[];
  /** Where no nodes are known, the kinds of nodes that may read the file, or all. */
  readonly kinds?: readonly NodeItem[];
  readonly known: number;
}

/** The nodes that see a file, or all. */
export const nodesRequest = new RequestType<{ textDocument?: TextDocumentIdentifier }, Nodes, void>("hiera/nodes");

/** Chooses the node whose values are shown; `null`: all nodes that read the file. */
export const selectNodeRequest = new RequestType<{ name: string | null }, { selected: string | null }, void>("hiera/selectNode");

/** A file that an undetermined location may turn out to be. */
export interface Candidate {
  readonly path: string;
  readonly uri: string;
  readonly key: Range | null;
  /** What unknown variables must be for that. */
  readonly when: Readonly<Record<string, string>>;
}

export interface HierarchyLocation {
  /**
   * `value`: it has the key, and the value comes from it or through it; `overridden`: it has the key, and a level above answers;
   * `file`: a file without the key; `missing`: no file; `undetermined`: unknown variables decide; `opaque`: a backend or an address that the server cannot read.
   */
  readonly state: "value" | "overridden" | "file" | "missing" | "undetermined" | "opaque";
  /** The path below the environment, or another name of the location. */
  readonly path: string;
  /** The file, if it exists. */
  readonly uri: string | null;
  /** Where the file has the key. */
  readonly key: Range | null;
  /** The location as `hiera.yaml` has it. */
  readonly template: string | null;
  readonly candidates: readonly Candidate[];
}

export interface HierarchyLevel {
  readonly layer: string;
  readonly name: string;
  /** The `hiera.yaml`, and where it names the first location of the level. */
  readonly config: { readonly uri: string; readonly range: Range };
  readonly locations: readonly HierarchyLocation[];
}

export interface Hierarchy {
  /** The scope of the values: a node's name, or a phrase for all nodes that read the file. */
  readonly scope: string;
  readonly key: string | null;
  readonly levels: readonly HierarchyLevel[];
}

/** The levels that a file's scope has, and which of them have the key at the position. */
export const hierarchyRequest = new RequestType<{ textDocument: TextDocumentIdentifier; position?: Position }, Hierarchy | null, void>(
  "hiera/hierarchy",
);

export interface Explanation {
  readonly key: string;
  readonly scope: string;
  /** The value and its places, then the lookup as Puppet explains it. */
  readonly text: string;
  /** The places in the text. */
  readonly links?: readonly { readonly range: Range; readonly target: Location }[];
}

/** The story of a lookup: of the key at a position, or of a named key. */
export const explainRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; position?: Position; key?: string },
  Explanation | null,
  void
>("hiera/explain");

/** What the unsaved edits change, as `hiera-ls diff` reports it. */
export const reachRequest = new RequestType<object, Pick<Explanation, "text" | "links"> | null, void>("hiera/reach");

/** A file that can take an entry. */
export interface OverrideFile {
  readonly path: string;
  /** `null` for a file that has no address. */
  readonly uri: string | null;
  readonly exists: boolean;
  readonly level: string;
  /** How many nodes certainly read it. */
  readonly readers: number;
}

/** A node or a file of a level that an entry can be overridden for. */
export interface OverrideTarget {
  readonly kind: "file" | "node";
  readonly name: string;
  /** The file that would be written; `null` where none can be. */
  readonly file: OverrideFile | null;
  /** The present value in words; secrets are hidden. */
  readonly value: string;
  /** Where the key stands already. */
  readonly stated: Location | null;
}

export interface OverrideTargets {
  readonly key: string;
  readonly nodes: number;
  readonly areKinds: boolean;
  readonly targets: readonly OverrideTarget[];
  readonly leftOut: { readonly files: number; readonly nodes: number };
}

/** The nodes and files that the entry at a position can be overridden for, those whose names have the filter in them. */
export const overrideTargetsRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; position: Position; filter?: string },
  OverrideTargets | null,
  void
>("hiera/overrideTargets");

/** A file with the entry that it would get. */
export interface OverridePlace extends OverrideFile {
  /** The nodes that the entry governs, in words. */
  readonly governs: string;
  /** The reach of the edit, in words. */
  readonly effect: string;
  readonly remark: string | null;
  readonly edit: WorkspaceEdit | null;
  /** Why there is no edit. */
  readonly refused: string | null;
}

/** The files that take the entry for a node, or the file of a level. */
export const overrideRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; position: Position; node?: string; file?: string },
  { key: string; places: readonly OverridePlace[] } | null,
  void
>("hiera/override");

/** The page that `hiera-ls config` prints: the governing `hiera.yaml` of each environment, and the reason. */
export const configRequest = new RequestType<object, { text: string } | null, void>("hiera/config");

/** All keys with their effective values, as a text in YAML, for the scope of a file. */
export const effectiveDataRequest = new RequestType<{ textDocument: TextDocumentIdentifier }, { scope: string; text: string } | null, void>(
  "hiera/effectiveData",
);
