/** What `sapwood doctor --json` prints, as far as the page shows it. */
export interface DoctorReport {
  file?: string;
  damage?: Damage | null;
  layout?: Layout[];
  optimize?: string | null;
}

export interface Damage {
  healthy: boolean;
  findings: Finding[];
  findings_not_listed: number;
  records: number;
  keys: number;
  trees: number;
  baskets: number;
  free_bytes: number;
}

export interface Finding {
  part: string;
  object: string;
  bytes: [number, number] | null;
  what: string;
}

export interface Layout {
  tree: string;
  entries: number;
  clusters: number[];
  baskets: number;
  bytes: number;
  smallest_basket: number;
  median_basket: number;
  largest_basket: number;
  backward: number;
  overlapping: number;
}
