import type { Place } from "../api/types";
import type { View } from "./app_state";
import { type Look, readLook, writeLook } from "./look";
import { type IoAxis, type MapSight, type Network, readMap, readNetwork, writeMap, writeNetwork } from "./sight";

/** What a link to a view holds. The fragment of an address never reaches the server. */
export interface Link {
  place: Place | null;
  view: View;
  kind: "tree" | "object" | "file" | null;
  expression: string;
  cut: string;
  bins: string;
  option: string;
  columns: string;
  entry: number;
  look: Look;
  ioAxis: IoAxis;
  map: MapSight | null;
  network: Network;
  draws: [expression: string, cut: string, bins: string, option: string][];
}

export function writeFragment(link: Link): string {
  const fields = new URLSearchParams();
  const put = (name: string, value: string) => value && fields.set(name, value);
  if (link.place) {
    fields.set("target", String(link.place.target));
    put("file", link.place.file);
    put("object", link.place.object);
  }
  put("kind", link.kind ?? "");
  fields.set("view", link.view);
  put("x", link.expression);
  put("cut", link.cut);
  put("bins", link.bins);
  put("option", link.option);
  put("columns", link.columns);
  put("entry", link.entry ? String(link.entry) : "");
  put("look", writeLook(link.look));
  put("io", link.ioAxis === "time" ? "time" : "");
  put("map", writeMap(link.map));
  put("network", writeNetwork(link.network));
  for (const draw of link.draws) fields.append("draw", JSON.stringify(draw));
  return `#${fields}`;
}

const VIEWS: View[] = ["plot", "entries", "io", "map", "doctor", "object"];

export function readFragment(fragment: string): Link {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const text = (name: string) => fields.get(name) ?? "";
  const target = Number.parseInt(text("target"), 10);
  const kind = text("kind");
  const draws: Link["draws"] = [];
  for (const draw of fields.getAll("draw").slice(0, 8)) {
    try {
      const [expression, cut, bins, option] = JSON.parse(draw).map(String);
      draws.push([expression, cut ?? "", bins ?? "", option ?? ""]);
    } catch {
      // a link that was cut short: the rest of it still opens
    }
  }
  return {
    place: Number.isSafeInteger(target) ? { target, file: text("file"), object: text("object") } : null,
    view: VIEWS.find((view) => view === text("view")) ?? "plot",
    kind: kind === "tree" || kind === "object" || kind === "file" ? kind : null,
    expression: text("x"),
    cut: text("cut"),
    bins: text("bins"),
    option: text("option"),
    columns: text("columns"),
    entry: /^\d{1,15}$/.test(text("entry")) ? Number(text("entry")) : 0,
    look: readLook(text("look")),
    ioAxis: text("io") === "time" ? "time" : "entry",
    map: readMap(text("map")),
    network: readNetwork(text("network")),
    draws,
  };
}
