// What the server says, as it says it: see docs/decisions/0066-the-page.md.

/** A target, a file in it and an object in that file. */
export interface Place {
  target: number;
  /** Empty where the target is a file. */
  file: string;
  /** Directories and key, with the cycle: `dir/Events;1`. */
  object: string;
}

export interface Target {
  id: number;
  name: string;
  kind: "file" | "directory";
}

export interface Session {
  version: string;
  targets: Target[];
  can_open: boolean;
}

export type EntryKind = "folder" | "file" | "directory" | "tree" | "ntuple" | "object";

export interface ListEntry {
  name: string;
  kind: EntryKind;
  class: string | null;
  title: string | null;
  cycle: number | null;
  bytes: number | null;
  modified: string | number | null;
}

export interface Listing {
  entries: ListEntry[];
  truncated: boolean;
}

/** One array per property, one element per branch. */
export interface Branches {
  name: string[];
  parent: number[];
  typename: string[];
  title: string[];
  expression: (string | null)[];
  reason?: (string | null)[];
  bytes: number[];
  compressed_bytes: number[];
  baskets: number[];
  compression: (string | null)[];
}

export interface TreeInfo {
  name: string;
  title: string;
  class: string;
  entries: number;
  clusters: number | number[] | null;
  bytes: number;
  compressed_bytes: number;
  file_bytes: number;
  branches: Branches;
  functions: string[];
}

export interface Axis {
  bins: number;
  low: number;
  high: number;
  edges?: number[];
  expression?: string;
  labels?: (string | null)[] | null;
}

/** A number, or null where it is not finite. */
export type Cell = number | null;

/** What `sapwood draw --json` prints for a histogram. */
export interface Histogram {
  name: string;
  expression: string;
  cut: string | null;
  axis?: Axis;
  axes?: Axis[];
  labels?: (string | null)[] | null;
  counts?: Cell[] | Cell[][] | Cell[][][];
  variances?: Cell[] | Cell[][] | Cell[][][];
  means?: Cell[] | Cell[][];
  errors?: Cell[] | Cell[][];
  underflow?: Cell;
  overflow?: Cell;
  entries: number;
  mean?: number | number[];
  std_dev?: number | number[];
  variables?: string[];
  quantiles?: unknown;
}

export interface Io {
  requests: number;
  round_trips: number;
  wanted_bytes: number;
  fetched_bytes: number;
  cached_bytes: number;
  waiting_seconds: number;
  unzip_seconds: number;
  decode_seconds: number;
}

export interface ReadRequest {
  begin: number;
  end: number;
  offset: number;
  bytes: number;
  entry: number | null;
}

export type Field = "expression" | "cut" | "bins" | "option";

/** An error, with where it is in what the user wrote. */
export interface Fault {
  message: string;
  field?: Field | null;
  column?: number | null;
}

export type DrawEvent =
  | { event: "progress"; entries: number; of: number | null; seconds: number; io: Io }
  | { event: "histogram"; partial: boolean; histogram: Histogram; picture?: string | null }
  | { event: "requests"; requests: ReadRequest[] }
  | { event: "done"; command: string; python: string; io: Io }
  | ({ event: "error" } & Fault);

export interface ScanRow {
  entry: number;
  instance: number;
  cells: string[];
}

export interface ScanPage {
  columns: string[];
  rows: ScanRow[];
  next: number | null;
  /** Whether rows of its last entry are left out: there are too many. */
  truncated: boolean;
  entries: number;
  command: string;
  python: string;
}

export interface FileMap {
  size: number;
  regions: {
    offset: number[];
    bytes: number[];
    kind: number[];
    branch: number[];
    first_entry: (number | null)[];
    entries: (number | null)[];
    /** Of records. */
    name: (string | null)[];
  };
  kinds: string[];
  branches: string[];
}

export interface Cost {
  seconds: number;
  /** How often the reader waited for the network. */
  waits: number;
  requests: number;
  bytes: number;
}

export interface CostPair {
  now: Cost;
  rewritten: Cost | null;
}
