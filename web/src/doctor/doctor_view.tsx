import { useEffect, useState } from "preact/hooks";
import { readDoctor, ServerError } from "../api/client";
import type { CostPair, Fault } from "../api/types";
import { Copyable } from "../common/copyable";
import { type Fact, Facts } from "../common/facts";
import { bytes, count } from "../common/format";
import { fileName, saveJson } from "../plot/save";
import { network, selection } from "../state/app_state";
import { useValue } from "../state/value";
import { CostModel } from "./cost_model";
import type { Damage, DoctorReport, Finding, Layout } from "./report_types";

/** The doctor's report, and what a rewrite would gain. */
export function DoctorView() {
  const chosen = useValue(selection);
  const place = chosen && chosen.kind !== "object" ? chosen.place : null;
  const [report, setReport] = useState<DoctorReport | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [cost, setCost] = useState<CostPair | null>(null);
  const [optimize, setOptimize] = useState(false);
  useEffect(() => {
    setReport(null);
    setFault(null);
    setCost(null);
    setOptimize(false);
    if (!place) return;
    const controller = new AbortController();
    readDoctor(place, controller.signal).then(setReport as (r: unknown) => void, (error) => {
      if (!controller.signal.aborted) setFault(error instanceof ServerError ? error.fault : { message: String(error) });
    });
    return () => controller.abort();
  }, [place]);
  if (!place) return <p class="note">Choose a file or a tree on the left.</p>;
  return (
    <section class="doctor" aria-label="Doctor">
      {fault && (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      )}
      {chosen?.kind === "tree" && <CostModel place={place} onPair={setCost} />}
      {!report && !fault && <p class="note">Examining the file…</p>}
      {report?.damage && <Health damage={report.damage} />}
      {report?.layout?.map((layout) => (
        <LayoutFacts key={layout.tree} layout={layout} />
      ))}
      {report && (
        <button
          type="button"
          onClick={() =>
            saveJson(
              fileName(chosen?.label ?? "doctor", "json"),
              cost ? { ...report, network: network.get(), cost } : report,
            )
          }
        >
          Save as JSON
        </button>
      )}{" "}
      {report?.optimize && (
        <button type="button" aria-expanded={optimize} onClick={() => setOptimize(!optimize)}>
          Command that rewrites the file
        </button>
      )}
      {report?.optimize && optimize && <Copyable label="Command" text={report.optimize} />}
      {report && !report.optimize && <p class="note">A rewrite would gain nothing worth its time.</p>}
    </section>
  );
}

function Health({ damage }: { damage: Damage }) {
  const findings = damage.findings.map(sentence);
  return (
    <div class="facts">
      <h2>{damage.healthy ? "No damage was found" : "The file is damaged"}</h2>
      <p class="note">
        {count(damage.records)} records, {count(damage.keys)} keys, {count(damage.trees)} trees, {count(damage.baskets)}{" "}
        baskets or pages, {bytes(damage.free_bytes)} free
      </p>
      {findings.length > 0 && (
        <ul>
          {findings.map((finding, i) => (
            <li key={i}>{finding}</li>
          ))}
        </ul>
      )}
      {damage.findings_not_listed > 0 && <p class="note">and {count(damage.findings_not_listed)} more</p>}
    </div>
  );
}

/** A finding as `sapwood doctor` says it: where, and what. */
function sentence({ part, object, bytes: span, what }: Finding): string {
  const where = [part, object].filter(Boolean).join(" ");
  const at = span ? ` (bytes ${count(span[0])} to ${count(span[1])})` : "";
  return `${where}: ${what}${at}`;
}

function LayoutFacts({ layout }: { layout: Layout }) {
  const facts: Fact[] = [
    ["Entries", count(layout.entries)],
    ["Clusters", count(Math.max(0, (layout.clusters?.length ?? 1) - 1))],
    ["Baskets", count(layout.baskets)],
    ["Bytes", bytes(layout.bytes)],
    ["Smallest basket", bytes(layout.smallest_basket)],
    ["Median basket", bytes(layout.median_basket)],
    ["Largest basket", bytes(layout.largest_basket)],
    ["Out of order", count(layout.backward)],
    ["Overlapping", count(layout.overlapping)],
  ];
  return (
    <div class="facts">
      <h2>{layout.tree}</h2>
      <Facts facts={facts} />
    </div>
  );
}
