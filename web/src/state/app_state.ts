import type { Fault, Place, Session, TreeInfo } from "../api/types";
import type { DrawJob } from "./draw_job";
import { type Look, PLAIN } from "./look";
import { type IoAxis, type MapSight, type Network, USUAL_NETWORK } from "./sight";
import { Value } from "./value";

export type View = "plot" | "entries" | "io" | "map" | "doctor" | "object";

/** What is chosen in the tree on the left. */
export interface Selection {
  place: Place;
  kind: "tree" | "object" | "file";
  /** What the page calls it. */
  label: string;
  className: string;
}

/** The boxes above the picture. */
export interface Form {
  expression: string;
  cut: string;
  bins: string;
  option: string;
}

export const session = new Value<Session | null>(null);
export const selection = new Value<Selection | null>(null);
/** The tree that is chosen, once it is read. */
export const tree = new Value<TreeInfo | null>(null);
export const view = new Value<View>("plot");
export const form = new Value<Form>({ expression: "", cut: "", bins: "", option: "" });
/** The columns of the table of entries, separated by colons. */
export const columns = new Value("");
/** The entry at the top of the table. */
export const topEntry = new Value(0);
/** What of the picture the user chose. */
export const look = new Value<Look>(PLAIN);
/** Along what the picture of I/O has the requests. */
export const ioAxis = new Value<IoAxis>("entry");
/** What of the map is in sight; null for the whole file. */
export const mapSight = new Value<MapSight | null>(null);
/** The network for which the doctor computes. */
export const network = new Value<Network>(USUAL_NETWORK);
/** The draws on the canvas, the lowest first. */
export const draws = new Value<DrawJob[]>([]);
/** What went wrong outside of a draw. */
export const problem = new Value<Fault | null>(null);
/** Whether the list on the left is shown where the page is narrow. */
export const listShown = new Value(false);
