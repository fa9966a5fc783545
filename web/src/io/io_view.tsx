import { useRef } from "preact/hooks";
import type { Io, ReadRequest } from "../api/types";
import { bytes, count, seconds } from "../common/format";
import { useDark, useWidth } from "../common/screen";
import { theme } from "../plot/palette";
import { fileName, saveJson, saveText, svgText } from "../plot/save";
import { ioAxis } from "../state/app_state";
import { useJobs } from "../state/use_jobs";
import { useValue } from "../state/value";
import { RequestChart } from "./request_chart";
import { TimeShare } from "./time_share";

/** What was fetched for the draws of the canvas, while it is fetched. */
export function IoView() {
  const jobs = useJobs();
  const dark = useDark();
  const frame = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(frame);
  const by = useValue(ioAxis);
  const requests = jobs.flatMap((job) => job.requests);
  const io = total(jobs.flatMap((job) => job.io ?? []));
  const known = requests.some((request) => typeof request.entry === "number");
  const axis = by === "entry" && !known ? "time" : by;

  return (
    <section class="io" aria-label="I/O">
      <Counters io={io} />
      <TimeShare io={io} dark={dark} />
      <div class="buttons" role="group" aria-label="Horizontal axis">
        <span class="dim">File offset against</span>
        <button type="button" aria-pressed={axis === "entry"} disabled={!known} onClick={() => ioAxis.set("entry")}>
          Entry
        </button>
        <button type="button" aria-pressed={axis === "time"} onClick={() => ioAxis.set("time")}>
          Time
        </button>
        <button
          type="button"
          disabled={requests.length === 0}
          onClick={() => svg.current && saveText(fileName("requests", "svg"), "image/svg+xml", svgText(svg.current))}
        >
          Save as SVG
        </button>
        <button
          type="button"
          disabled={requests.length === 0}
          onClick={() => saveText(fileName("requests", "csv"), "text/csv", requestsCsv(requests))}
        >
          Save as CSV
        </button>
        <button
          type="button"
          disabled={requests.length === 0}
          onClick={() => saveJson(fileName("requests", "json"), { io, requests })}
        >
          Save as JSON
        </button>
      </div>
      <div class="picture" ref={frame}>
        {width > 0 && requests.length > 0 && (
          <RequestChart requests={requests} by={axis} width={width} height={380} theme={theme(dark)} svg={svg} />
        )}
      </div>
      {requests.length === 0 && (
        <p class="note">
          {io.cached_bytes > 0
            ? "All bytes came from the local cache: nothing was requested."
            : "Draw something: each request of bytes is shown here as it ends."}
        </p>
      )}
      {requests.length > 0 && <RequestTable requests={requests} />}
    </section>
  );
}

function total(all: Io[]): Io {
  const sum: Io = {
    requests: 0,
    round_trips: 0,
    wanted_bytes: 0,
    fetched_bytes: 0,
    cached_bytes: 0,
    waiting_seconds: 0,
    unzip_seconds: 0,
    decode_seconds: 0,
  };
  for (const io of all) for (const key of Object.keys(sum) as (keyof Io)[]) sum[key] += io[key] ?? 0;
  return sum;
}

function Counters({ io }: { io: Io }) {
  const numbers: [string, string][] = [
    ["Requests", count(io.requests)],
    ["Round trips", count(io.round_trips)],
    ["Wanted", bytes(io.wanted_bytes)],
    ["Fetched", bytes(io.fetched_bytes)],
    ["From the cache", bytes(io.cached_bytes)],
  ];
  return (
    <dl class="counters">
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const SHOWN = 100;

function RequestTable({ requests }: { requests: ReadRequest[] }) {
  return (
    <details>
      <summary>The last {Math.min(SHOWN, requests.length)} requests</summary>
      <table>
        <thead>
          <tr>
            {["Begin", "Time", "Offset", "Bytes", "Entry"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {requests.slice(-SHOWN).map((r, i) => (
            <tr key={i}>
              <td>{seconds(r.begin)}</td>
              <td>{seconds(r.end - r.begin)}</td>
              <td>{count(r.offset)}</td>
              <td>{count(r.bytes)}</td>
              <td>{count(r.entry)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function requestsCsv(requests: ReadRequest[]): string {
  const lines = requests.map((r) => [r.begin, r.end, r.offset, r.bytes, r.entry ?? ""].join(","));
  return `begin,end,offset,bytes,entry\r\n${lines.join("\r\n")}\r\n`;
}
