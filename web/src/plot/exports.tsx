import type { RefObject } from "preact";
import type { Histogram } from "../api/types";
import { Copyable } from "../common/copyable";
import { report } from "../state/actions";
import type { DrawJob } from "../state/draw_job";
import { csv, hasBins } from "./csv";
import { fileName, png, pngOf, saveBlob, saveText, svgText } from "./save";

interface Props {
  jobs: DrawJob[];
  histograms: Histogram[];
  svg: RefObject<SVGSVGElement | null>;
  /** SVG of the server, where the page has no picture of its own. */
  picture: string | null;
}

/** Files of the picture and its contents, and what gives the same elsewhere. */
export function Exports({ jobs, histograms, svg, picture }: Props) {
  const name = (end: string) => fileName(histograms[0].expression, end);
  const json = () => {
    const all = histograms.map((histogram) => ({ histogram }));
    return `${JSON.stringify(all.length === 1 ? all[0] : all)}\n`;
  };
  const done = jobs.filter((job) => job.state === "done");
  return (
    <div class="exports">
      <div class="buttons" role="group" aria-label="Save as">
        <span class="dim">Save as</span>
        <button
          type="button"
          onClick={() => {
            const text = picture ?? (svg.current && svgText(svg.current));
            if (text) saveText(name("svg"), "image/svg+xml", text);
          }}
        >
          SVG
        </button>
        <button
          type="button"
          onClick={() => {
            const made = picture ? pngOf(picture) : svg.current && png(svg.current);
            made?.then((blob) => saveBlob(name("png"), blob), report);
          }}
        >
          PNG
        </button>
        <button type="button" onClick={() => saveText(name("json"), "application/json", json())}>
          JSON
        </button>
        <button
          type="button"
          disabled={!histograms.every(hasBins)}
          onClick={() => saveText(name("csv"), "text/csv", csv(histograms))}
        >
          CSV
        </button>
      </div>
      {done.length > 0 && (
        <>
          <Copyable label="Command" text={done.map((job) => job.command).join("\n")} />
          <Copyable label="Python" text={done.map((job) => job.python).join("\n\n")} />
        </>
      )}
    </div>
  );
}
