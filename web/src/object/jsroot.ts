// JSROOT, loaded when the first object is drawn. It reads the file through the engine's source and local cache.
import { placeQuery } from "../api/client";
import type { Place } from "../api/types";
import { forgetMissing, missingFunctions } from "./formula";
import { NoPicture } from "./no_picture";
import { hasTable, objectCsv } from "./object_csv";

async function load() {
  const [core, io, draw] = await Promise.all([import("jsroot/core"), import("jsroot/io"), import("jsroot/draw")]);
  return { core, io, draw };
}

export interface DrawnObject {
  /** Which functions of the picture could not be computed, and why; empty for none. */
  missing: string;
  /** Takes the picture out of the page. */
  remove: () => void;
  /** The picture as SVG; null for what has none. */
  svg: () => Promise<string | null>;
  json: () => string;
  /** Its bins or points; null for what has none. */
  csv: (() => string) | null;
}

/** Classes that are text; JSROOT would write it with a style of its own, which the policy of the page forbids. */
const TEXTS = ["TObjString", "TNamed"];

/** Draws an object of a file into an element of the page. */
export async function drawObject(element: HTMLElement, place: Place, dark: boolean): Promise<DrawnObject> {
  const { core, io, draw } = await load();
  core.settings.UseStamp = false;
  // one range in each request: what every server and every cache answers
  core.settings.MaxRanges = 1;
  core.settings.DarkMode = dark;
  core.settings.ContextMenu = false;
  core.settings.ToolBar = false;
  core.settings.SmallPad = { width: 0, height: 0 };
  const address = new URL(`api/bytes?${placeQuery({ ...place, object: "" })}`, location.href);
  const file = await io.openFile(address.href);
  if (!file) throw new Error("JSROOT cannot open the file");
  // JSROOT drops quotation marks from the names of keys
  const object = await file.readObject(place.object.replace(/['"]/g, ""));
  if (!object) throw new Error("JSROOT cannot read this object");
  const className = object._typename;
  if (TEXTS.includes(className)) throw new NoPicture(core.toJSON(object, 2));
  forgetMissing();
  await draw.draw(element, object, "").catch((error) => {
    if (/cannot be shown/.test(error?.message)) throw new NoPicture(core.toJSON(object, 2));
    throw error;
  });
  const missing = missingFunctions();
  if (missing && /^TF[123]$/.test(className)) {
    draw.cleanup(element);
    throw new Error(`The function cannot be computed here; ${missing}`);
  }
  return {
    missing,
    remove: () => draw.cleanup(element),
    svg: async () => element.querySelector("svg") && draw.makeImage({ format: "svg", object, width: 900, height: 600 }),
    json: () => core.toJSON(object, 2),
    csv: hasTable(object) ? () => objectCsv(object) : null,
  };
}
