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
  const { offset, bytes, kind, branch, first_entry, entries } = map.regions;
  const at = offset[region];
  useEffect(() => {
    setKey(null);
    setProblem("");
    const controller = new AbortController();
    readKey(place, at, controller.signal).then(setKey, (error) => {
      if (!controller.signal.aborted) setProblem(error.message);
    });
    return () => controller.abort();
  }, [place, at]);

  const first = first_entry[region];
  const number = entries[region];
  const facts: Fact[] = [
    ["Kind", map.kinds[kind[region]] ?? ""],
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
      <h3>Key</h3>
      {problem && <p class="note">{problem}</p>}
      <Facts facts={ofKey} />
    </div>
  );
}

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
