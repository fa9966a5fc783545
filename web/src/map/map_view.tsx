import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { readMap, ServerError } from "../api/client";
import type { Fault, FileMap } from "../api/types";
import { bytes, count } from "../common/format";
import { useDark, useWidth } from "../common/screen";
import { theme } from "../plot/palette";
import { saveBlob, saveJson } from "../plot/save";
import { mapSight, selection } from "../state/app_state";
import type { MapSight } from "../state/sight";
import { useValue } from "../state/value";
import { BranchChoice } from "./branch_choice";
import { offsetAt, paint, type Sheet } from "./paint";
import { RegionDetails } from "./region_details";
import { byOffset, largestBranches, moved, regionAt, type Window, zoomed } from "./regions";

const LINES = 24;
const HEIGHT = 480;

/** The map of the file: all baskets or pages, where they are. */
export function MapView() {
  const chosen = useValue(selection);
  const place = chosen && chosen.kind !== "object" ? chosen.place : null;
  const [map, setMap] = useState<FileMap | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    setMap(null);
    setFault(null);
    if (!place) return;
    const controller = new AbortController();
    readMap(place, controller.signal).then(setMap, (error) => {
      if (!controller.signal.aborted) setFault(error instanceof ServerError ? error.fault : { message: String(error) });
    });
    return () => controller.abort();
  }, [place]);
  if (!place) return <p class="note">Choose a file or a tree on the left.</p>;
  if (fault) {
    return (
      <p class="fault" role="alert">
        {fault.message}
      </p>
    );
  }
  if (!map) return <p class="note">Reading where everything is…</p>;
  return <Sheets key={`${place.target} ${place.file} ${place.object}`} map={map} />;
}

function Sheets({ map }: { map: FileMap }) {
  const place = useValue(selection)?.place;
  const dark = useDark();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const colors = theme(dark);
  const largest = useMemo(() => largestBranches(map, 6), [map]);
  const sight = useValue(mapSight);
  const whole: Window = { from: 0, span: Math.max(1, map.size) };
  // an address may say what this file does not have
  const window_ = sight ? zoomed(sight, whole.span, sight.from, 1) : whole;
  const chosen =
    sight?.branches?.filter((branch) => branch < map.branches.length).slice(0, colors.series.length) ?? largest;
  const marked = sight && sight.region < map.regions.offset.length ? sight.region : -1;
  const see = (what: Partial<MapSight>) =>
    mapSight.set({ region: -1, branches: null, ...whole, ...mapSight.get(), ...what });
  const setWindow = (change: (old: Window) => Window) => {
    const now = mapSight.get();
    see(change(now ? zoomed(now, whole.span, now.from, 1) : whole));
  };
  const order = useMemo(() => byOffset(map), [map]);
  const sheet: Sheet = { width, height: HEIGHT, lines: LINES };

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    element.width = width * ratio;
    element.height = HEIGHT * ratio;
    context.scale(ratio, ratio);
    paint(context, sheet, map, order, window_, chosen, marked, colors);
  }, [map, order, width, sight, dark]);

  const zoom = (factor: number, at = window_.from + window_.span / 2) =>
    setWindow((old) => zoomed(old, map.size, at, factor));
  const move = (share: number) => setWindow((old) => moved(old, map.size, old.span * share));
  const step = (by: number) => {
    const at = marked < 0 ? order.findIndex((i) => map.regions.offset[i] >= window_.from) : order.indexOf(marked) + by;
    if (at >= 0 && at < order.length) look(order[at]);
  };
  const look = (region: number) => {
    const offset = map.regions.offset[region];
    const seen = offset >= window_.from && offset < window_.from + window_.span;
    see({ region, ...(seen ? {} : moved({ from: offset, span: window_.span }, map.size, -window_.span / 4)) });
  };
  // wheel listeners of the framework are passive, and this one keeps the page from scrolling
  const wheel = useRef((_: WheelEvent) => {});
  wheel.current = (event) => {
    if (!event.ctrlKey && !event.shiftKey && event.deltaMode === 0 && Math.abs(event.deltaY) < 1) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.4 : 1 / 1.4, offsetAt(sheet, window_, event.offsetX, event.offsetY));
  };
  useEffect(() => {
    const element = canvas.current;
    const listen = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, []);

  const keys = (event: KeyboardEvent) => {
    const actions: Record<string, () => void> = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      ArrowDown: () => move(1 / LINES),
      ArrowUp: () => move(-1 / LINES),
      "0": () => see(whole),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const branches = new Set(map.regions.branch).size - (map.regions.branch.includes(-1) ? 1 : 0);

  return (
    <section class="map" aria-label="Map of the file">
      <div class="buttons" role="group" aria-label="Part of the file">
        <button type="button" onClick={() => zoom(0.5)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => zoom(2)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => move(-0.5)}>
          Back
        </button>
        <button type="button" onClick={() => move(0.5)}>
          Forward
        </button>
        <button type="button" onClick={() => see(whole)}>
          Whole file
        </button>
        <button
          type="button"
          onClick={() => canvas.current?.toBlob((blob) => blob && saveBlob("map.png", blob), "image/png")}
        >
          Save as PNG
        </button>
        <button type="button" onClick={() => saveJson("map.json", map)}>
          Save as JSON
        </button>
        <span class="dim" role="status">
          {bytes(window_.from)} to {bytes(window_.from + window_.span)} of {bytes(map.size)},{" "}
          {count(map.regions.offset.length)} regions
        </span>
      </div>
      <div class="picture" ref={frame}>
        <canvas
          ref={canvas}
          role="img"
          tabIndex={0}
          data-regions={map.regions.offset.length}
          aria-label={`Map of ${count(map.regions.offset.length)} regions of ${branches} branches. Arrows choose a region, plus and minus zoom.`}
          style={{ width: `${width}px`, height: `${HEIGHT}px` }}
          onClick={(event) => {
            const region = regionAt(map, order, offsetAt(sheet, window_, event.offsetX, event.offsetY));
            see({ region });
          }}
          onDblClick={(event) => zoom(0.25, offsetAt(sheet, window_, event.offsetX, event.offsetY))}
          onKeyDown={keys}
        />
      </div>
      {place && marked >= 0 && (
        <RegionDetails
          map={map}
          region={marked}
          place={place}
          onFill={() => {
            const { offset, bytes: sizes } = map.regions;
            see(zoomed({ from: offset[marked], span: Math.max(1, sizes[marked]) }, map.size, offset[marked], 1.25));
          }}
        />
      )}
      <BranchChoice map={map} chosen={chosen} colors={colors.series} onChoose={(branches) => see({ branches })} />
    </section>
  );
}
