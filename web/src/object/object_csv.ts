// The contents of an object of the file as a table, for those that have bins or points.

interface Axis {
  fNbins: number;
  fXmin: number;
  fXmax: number;
  fXbins: ArrayLike<number>;
}

/** Histograms and profiles of JSROOT. */
interface Binned {
  fXaxis: Axis;
  fYaxis: Axis;
  fZaxis: Axis;
  fBinEntries?: ArrayLike<number>;
  getBin(x: number, y?: number, z?: number): number;
  getBinContent(x: number, y?: number, z?: number): number;
  getBinError(bin: number): number;
}

/** Graphs of JSROOT; those without errors have no such arrays. */
interface Graph {
  fNpoints: number;
  fX: ArrayLike<number>;
  fY: ArrayLike<number>;
  [errors: `fE${string}`]: ArrayLike<number> | undefined;
}

const BINNED: Record<string, number> = { TProfile: 1, TProfile2D: 2, TProfile3D: 3 };
for (const type of ["C", "S", "I", "L", "F", "D"]) {
  for (const dimensions of [1, 2, 3]) BINNED[`TH${dimensions}${type}`] = dimensions;
}
const GRAPHS = ["TGraph", "TGraphErrors", "TGraphAsymmErrors"];
const ERRORS = ["fEX", "fEXlow", "fEXhigh", "fEY", "fEYlow", "fEYhigh"] as const;

const classOf = (object: unknown): string => (object as { _typename?: string })._typename ?? "";

export const hasTable = (object: unknown): boolean =>
  Object.hasOwn(BINNED, classOf(object)) || GRAPHS.includes(classOf(object));

/** The table of an object that has one, as CSV. */
export function objectCsv(object: unknown): string {
  const isGraph = GRAPHS.includes(classOf(object));
  const lines = isGraph ? points(object as Graph) : bins(object as Binned, BINNED[classOf(object)]);
  return `${lines.join("\r\n")}\r\n`;
}

function edge(axis: Axis, bin: number): number {
  if (axis.fXbins.length > axis.fNbins) return axis.fXbins[bin];
  return bin === axis.fNbins ? axis.fXmax : axis.fXmin + (bin * (axis.fXmax - axis.fXmin)) / axis.fNbins;
}

function bins(h: Binned, dimensions: number): string[] {
  const axes = [h.fXaxis, h.fYaxis, h.fZaxis].slice(0, dimensions);
  const names = dimensions === 1 ? ["low", "high"] : ["x", "y", "z"].slice(0, dimensions).flatMap(bothEdges);
  const lines = [[...names, h.fBinEntries ? "mean" : "count", "error"].join(",")];
  const at = axes.map(() => 1);
  // the last axis is the fastest, as in the tables of draws
  for (let axis = axes.length - 1; axis >= 0; ) {
    const [x, y, z] = at;
    const line = axes.flatMap((one, i) => [edge(one, at[i] - 1), edge(one, at[i])]);
    lines.push([...line, h.getBinContent(x, y, z), h.getBinError(h.getBin(x, y, z))].join(","));
    for (axis = axes.length - 1; axis >= 0 && ++at[axis] > axes[axis].fNbins; axis--) at[axis] = 1;
  }
  return lines;
}

/** `fEXlow` is `error_x_low`. */
const errorName = (member: string) => `error_${member[2].toLowerCase()}${member.slice(3) && `_${member.slice(3)}`}`;

const bothEdges = (name: string) => [`${name}_low`, `${name}_high`];

function points(graph: Graph): string[] {
  const errors = ERRORS.filter((name) => graph[name]);
  const lines = [["x", "y", ...errors.map(errorName)].join(",")];
  for (let i = 0; i < graph.fNpoints; i++) {
    lines.push([graph.fX[i], graph.fY[i], ...errors.map((name) => graph[name]?.[i] ?? "")].join(","));
  }
  return lines;
}
