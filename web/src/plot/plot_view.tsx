import { useEffect, useRef, useState } from "preact/hooks";
import type { Histogram } from "../api/types";
import { useDark, useWidth } from "../common/screen";
import { draw, formSpec } from "../state/actions";
import { look as chosenLook, draws, form } from "../state/app_state";
import type { DrawJob } from "../state/draw_job";
import type { Look } from "../state/look";
import { useJobs } from "../state/use_jobs";
import { useValue } from "../state/value";
import { shapeOf, xAxis } from "./content";
import { DragArea, type Dragged } from "./drag";
import { Exports } from "./exports";
import { readout } from "./hover";
import { JobList } from "./job_list";
import { theme } from "./palette";
import { layout, Picture } from "./picture";
import { RangeMenu } from "./range_menu";
import { TreeFacts } from "./tree_facts";

/** The canvas: the picture of all draws, their progress, and what can be done with them. */
export function PlotView() {
  const jobs = useJobs();
  const dark = useDark();
  const frame = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(frame);
  const look = useValue(chosenLook);
  const setLook = (next: Look) => chosenLook.set(next);
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const [hovered, setHovered] = useState("");

  const first = jobs.find((job) => job.histogram);
  const kind = first?.histogram ? shapeOf(first.histogram) : null;
  const drawn = jobs.flatMap((job) => (job.histogram && shapeOf(job.histogram) === kind ? [job.histogram] : []));
  const shown = kind === "two" ? drawn.slice(0, 1) : drawn;
  const lowest = jobs[0];
  useEffect(() => {
    setDragged(null);
    setHovered("");
  }, [lowest]);

  const height = Math.round(Math.max(320, Math.min(620, width * 0.62)));
  const where = shown.length && kind !== "other" && width > 0 ? layout(shown, width, height, look) : null;
  const named = shown[0]?.labels || shown[0]?.axes?.some((axis) => axis.labels);

  return (
    <section class="plot" aria-label="Plot">
      <JobList jobs={jobs} hidden={jobs.filter((job) => job.histogram && !shown.includes(job.histogram))} />
      <div class="picture" ref={frame}>
        {where && (
          <>
            <Picture histograms={shown} width={width} height={height} look={look} theme={theme(dark)} svg={svg} />
            <DragArea
              where={where}
              onHover={(x, y) => setHovered(readout(shown, x, y))}
              onLeave={() => setHovered("")}
              onDragged={(range) => !named && setDragged(range)}
            />
          </>
        )}
        {dragged && (
          <RangeMenu
            range={dragged}
            onZoom={() => {
              setLook({ ...look, x: dragged.x, y: dragged.y });
              setDragged(null);
            }}
            onCut={() => {
              addToCut(shown[0], dragged);
              setDragged(null);
            }}
            onBins={() => {
              binRange(shown[0], dragged);
              setDragged(null);
            }}
            onClose={() => setDragged(null)}
          />
        )}
      </div>
      {where && (
        <div class="under">
          <span class="readout" data-testid="readout">
            {hovered || "Drag over the picture to zoom or cut."}
          </span>
          <label>
            <input
              type="checkbox"
              checked={look.log}
              onChange={(e) => setLook({ ...look, log: e.currentTarget.checked })}
            />{" "}
            Log scale
          </label>
          {kind === "one" && (
            <label>
              <input
                type="checkbox"
                checked={look.errors}
                onChange={(e) => setLook({ ...look, errors: e.currentTarget.checked })}
              />{" "}
              Errors
            </label>
          )}
          <button type="button" disabled={!look.x && !look.y} onClick={() => setLook({ ...look, x: null, y: null })}>
            Whole range
          </button>
        </div>
      )}
      {kind === "other" && first && <ServerPicture job={first} />}
      {shown.length > 0 && <Exports jobs={jobs} histograms={shown} svg={svg} picture={first?.picture ?? null} />}
      {jobs.length === 0 && <TreeFacts />}
    </section>
  );
}

/** A picture that the server made: of three dimensions, of candles. As an image nothing in it can run. */
function ServerPicture({ job }: { job: DrawJob }) {
  if (!job.picture) return <p class="note">The picture is made when all entries are read.</p>;
  return (
    <img
      class="server-picture"
      src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(job.picture)}`}
      alt={`Drawn: ${job.spec.expression}`}
    />
  );
}

const digits = (x: number) => String(Number(x.toPrecision(6)));

/** The variables of a histogram, x first. */
const variables = (h: Histogram): string[] => (h.axes ? h.axes.map((axis) => axis.expression ?? "") : [h.expression]);

function addToCut(h: Histogram, range: Dragged): void {
  const terms: string[] = [];
  const [x, y] = variables(h);
  const between = (variable: string, [low, high]: [number, number]) => {
    const name = /^[\w.]+$/.test(variable) ? variable : `(${variable})`;
    terms.push(`${name} >= ${digits(low)} && ${name} < ${digits(high)}`);
  };
  between(x, range.x);
  if (y && range.y) between(y, range.y);
  const old = form.get().cut.trim();
  const simple = /^[^|?]*$/.test(old);
  const cut = [old && !simple ? `(${old})` : old, ...terms].filter(Boolean).join(" && ");
  form.set({ ...form.get(), cut });
  redraw();
}

function binRange(h: Histogram, range: Dragged): void {
  const one = (bins: number, [low, high]: [number, number]) => `${bins},${digits(low)},${digits(high)}`;
  const x = one(xAxis(h)?.bins ?? 100, range.x);
  const bins = range.y ? `${x},${one(h.axes?.[1].bins ?? 40, range.y)}` : x;
  form.set({ ...form.get(), bins });
  redraw();
}

/** Draws anew what is on the canvas, with the cut and the bins of the boxes. */
function redraw(): void {
  const spec = formSpec();
  const lowest = draws.get()[0]?.spec;
  if (!spec || !lowest) return;
  draw({ ...spec, expression: lowest.expression, option: lowest.option });
}
