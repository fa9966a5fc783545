import { useEffect, useState } from "preact/hooks";
import { readKey } from "../api/client";
import type { FileMap, Place } from "../api/types";
import { type Fact, Facts } from "../common/facts";
import { count } from "../common/format";

interface Props {
  map: FileMap;
  region: number;
  place: Place;
  onFill: () => void;
}

/** One region of the file, with the key that is at its beginning. */
export function RegionDetails({ map, region, place, onFill }: Props) {
  const [key, setKey] = useState<Record<string, unknown> | null>(null);
  const [problem, setProblem] = useState("");
  const { offset, bytes, kind, branch, first_entry, entries, name } = map.regions;
  const at = offset[region];
  // a page is a part of a record
  const isPage = map.kinds[kind[region]] === "page";
  useEffect(() => {
    setKey(null);
    setProblem("");
    if (isPage) return;
    const controller = new AbortController();
    readKey(place, at, controller.signal).then(setKey, (error) => {
      if (!controller.signal.aborted) setProblem(error.message);
    });
    return () => controller.abort();
  }, [place, at, isPage]);

  const first = first_entry[region];
  const number = entries[region];
  const facts: Fact[] = [
    ["Kind", map.kinds[kind[region]] ?? ""],
    ["Name", name[region] ?? ""],
    ["Branch", branch[region] >= 0 ? map.branches[branch[region]] : ""],
    ["Offset", count(at)],
    ["Bytes", count(bytes[region])],
    [
      "Entries",
      typeof first !== "number"
        ? ""
        : typeof number !== "number"
          ? `from ${count(first)}`
          : `${count(first)} to ${count(first + number - 1)}`,
    ],
  ];
  const ofKey = key ? Object.entries(key).map(([name, value]): Fact => [name.replaceAll("_", " "), text(value)]) : [];
  return (
    <div class="facts region" role="status" aria-label="Chosen region">
      <div class="buttons">
        <button type="button" onClick={onFill}>
          Zoom to this region
        </button>
      </div>
      <Facts facts={facts} />
      {ofKey.length + problem.length > 0 && <h3>Key</h3>}
      {problem && <p class="note">{problem}</p>}
      <Facts facts={ofKey} />
    </div>
  );
}

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
