import { readTree, ServerError } from "../api/client";
import type { Place } from "../api/types";
import {
  columns,
  draws,
  form,
  ioAxis,
  listShown,
  look,
  mapSight,
  network,
  problem,
  type Selection,
  selection,
  topEntry,
  tree,
  view,
} from "./app_state";
import { DrawJob, type DrawSpec } from "./draw_job";
import { type Link, readFragment, writeFragment } from "./fragment";

/** At most this many histograms on top of each other: as many as there are colours. */
const MOST_DRAWS = 8;

export function report(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  problem.set(error instanceof ServerError ? error.fault : { message: String(error) });
}

function samePlace(a: Place | undefined, b: Place): boolean {
  return !!a && a.target === b.target && a.file === b.file && a.object === b.object;
}

/** Chooses a tree, an object or a file. Draws of another tree are stopped. */
export async function select(next: Selection): Promise<void> {
  const before = selection.get();
  if (before && before.kind === next.kind && samePlace(before.place, next.place)) return;
  selection.set(next);
  problem.set(null);
  if (next.kind === "object") {
    view.set("object");
    listShown.set(false);
    return;
  }
  clearDraws();
  mapSight.set(null);
  tree.set(null);
  if (view.get() === "object" || before?.kind === "file") view.set("plot");
  if (next.kind === "file") {
    if (view.get() === "plot" || view.get() === "entries" || view.get() === "io") view.set("map");
    return;
  }
  if (before) {
    form.set({ expression: "", cut: "", bins: "", option: "" });
    columns.set("");
    topEntry.set(0);
  }
  try {
    const info = await readTree(next.place);
    if (selection.get() === next) tree.set(info);
  } catch (error) {
    if (selection.get() === next) report(error);
  }
}

/** Replaces what is on the canvas. */
export function draw(spec: DrawSpec): void {
  clearDraws();
  draws.set([new DrawJob(spec)]);
  view.set("plot");
  listShown.set(false);
}

/** Draws on top of what is on the canvas, in the same bins where there is one axis. */
export function drawOver(spec: DrawSpec): void {
  const below = draws.get();
  const first = below[0];
  const axis = first?.histogram?.axis;
  const bins =
    spec.bins || (axis && !axis.edges && !first.histogram?.labels ? `${axis.bins},${axis.low},${axis.high}` : "");
  if (below.length >= MOST_DRAWS) {
    problem.set({ message: `The canvas holds ${MOST_DRAWS} histograms. Remove one first.` });
    return;
  }
  draws.set([...below, new DrawJob({ ...spec, bins })]);
  view.set("plot");
}

export function removeDraw(job: DrawJob): void {
  job.stop();
  draws.set(draws.get().filter((other) => other !== job));
}

/** Shows the whole range again: another picture has another one. */
function wholeRange(): void {
  const { x, y } = look.get();
  if (x || y) look.set({ ...look.get(), x: null, y: null });
}

export function clearDraws(): void {
  wholeRange();
  for (const job of draws.get()) job.stop();
  draws.set([]);
}

export function stopDraws(): void {
  for (const job of draws.get()) job.stop();
  draws.changed();
}

/** What the boxes say, for the tree that is chosen. */
export function formSpec(): DrawSpec | null {
  const chosen = selection.get();
  if (chosen?.kind !== "tree") return null;
  return { place: chosen.place, ...form.get() };
}

let clickedBefore: DrawJob[] = [];

/**
 * Draws a leaf with the cut of the box. The second click of a double click puts back what was on the canvas before
 * the first, and draws on top of it.
 */
export function drawLeaf(expression: string, second: boolean): void {
  const chosen = selection.get();
  if (chosen?.kind !== "tree") return;
  // lines are drawn on top of lines only
  const lines = clickedBefore[0]?.histogram?.axis;
  if (second && lines) {
    for (const job of draws.get()) if (!clickedBefore.includes(job)) job.stop();
    draws.set(clickedBefore);
    clickedBefore = [];
    const first = draws.get()[0].spec;
    form.set({ ...form.get(), expression: first.expression, bins: first.bins });
    drawOver({ place: chosen.place, expression, cut: form.get().cut, bins: "", option: "" });
    return;
  }
  if (second) return;
  wholeRange();
  clickedBefore = draws.get().filter((job) => job.histogram && job.state !== "stopped");
  for (const job of draws.get()) if (!clickedBefore.includes(job)) job.stop();
  form.set({ ...form.get(), expression, bins: "", option: "" });
  draws.set([new DrawJob({ place: chosen.place, expression, cut: form.get().cut, bins: "", option: "" })]);
  const kept = clickedBefore;
  // what a single click replaced stops once it cannot become a double click any more
  setTimeout(() => {
    for (const job of kept) if (!draws.get().includes(job)) job.stop();
  }, 600);
  view.set("plot");
  listShown.set(false);
}

/** The address of what is seen. */
export function currentLink(): Link {
  const chosen = selection.get();
  return {
    place: chosen?.place ?? null,
    kind: chosen?.kind ?? null,
    view: view.get(),
    ...form.get(),
    columns: columns.get(),
    entry: topEntry.get(),
    look: look.get(),
    ioAxis: ioAxis.get(),
    map: mapSight.get(),
    network: network.get(),
    draws: draws.get().map(({ spec }) => [spec.expression, spec.cut, spec.bins, spec.option]),
  };
}

/** Opens what a link says. */
export async function follow(fragment: string): Promise<void> {
  const link = readFragment(fragment);
  if (!link.place || !link.kind) return;
  const label = link.place.object.replace(/;\d+$/, "") || link.place.file || "file";
  const chosen = selection.get();
  if (!chosen || chosen.kind !== link.kind || !samePlace(chosen.place, link.place)) {
    const opened = select({ place: link.place, kind: link.kind, label, className: "" });
    if (link.kind === "tree") await opened;
  }
  form.set({ expression: link.expression, cut: link.cut, bins: link.bins, option: link.option });
  columns.set(link.columns);
  topEntry.set(link.entry);
  clearDraws();
  const place = link.place;
  draws.set(link.draws.map(([expression, cut, bins, option]) => new DrawJob({ place, expression, cut, bins, option })));
  look.set(link.look);
  ioAxis.set(link.ioAxis);
  mapSight.set(link.map);
  network.set(link.network);
  view.set(link.view);
}

/** Keeps the address in step with what is seen, and follows it when the user changes it. */
export function keepFragment(): void {
  let timer = 0;
  const write = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      const fragment = writeFragment(currentLink());
      if (selection.get() && fragment !== location.hash) history.replaceState(null, "", fragment);
    }, 100);
  };
  for (const value of [selection, view, form, columns, draws, topEntry, look, ioAxis, mapSight, network])
    value.watch(write);
  window.addEventListener("hashchange", () => {
    if (location.hash !== writeFragment(currentLink())) follow(location.hash).catch(report);
  });
}
