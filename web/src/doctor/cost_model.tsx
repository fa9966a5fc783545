import { useEffect, useState } from "preact/hooks";
import { estimate, ServerError } from "../api/client";
import type { Cost, CostPair, Fault, Place } from "../api/types";
import { bytes, count, seconds } from "../common/format";
import { draws, network } from "../state/app_state";
import { BANDWIDTHS, MOST_RTT } from "../state/sight";
import { useValue } from "../state/value";

/** What reading costs at a chosen round-trip time, now and after a rewrite: the planner's model. */
export function CostModel({ place, onPair }: { place: Place; onPair: (pair: CostPair) => void }) {
  const jobs = useValue(draws);
  const { rtt, bandwidth } = useValue(network);
  const [pair, setPair] = useState<CostPair | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    // a slider that moves asks once it rests
    const timer = setTimeout(() => {
      const what = { branches: [], rtt_ms: rtt, bandwidth_mbit: bandwidth };
      estimate(place, what, controller.signal).then(
        (answer) => {
          setPair(answer);
          onPair(answer);
          setFault(null);
        },
        (error) => {
          if (controller.signal.aborted) return;
          setFault(error instanceof ServerError ? error.fault : { message: String(error) });
        },
      );
    }, 120);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [place, rtt, bandwidth, jobs]);

  return (
    <div class="facts cost">
      <h2>Reading all branches</h2>
      <div class="sliders">
        <label for="rtt">Round-trip time: {rtt} ms</label>
        <input
          id="rtt"
          type="range"
          min={0}
          max={MOST_RTT}
          step={5}
          value={rtt}
          onInput={(e) => network.set({ rtt: Number(e.currentTarget.value), bandwidth })}
        />
        <label for="bandwidth">Bandwidth</label>
        <select
          id="bandwidth"
          value={bandwidth}
          onChange={(e) => network.set({ rtt, bandwidth: Number(e.currentTarget.value) })}
        >
          {BANDWIDTHS.map((mbit) => (
            <option key={mbit} value={mbit}>
              {mbit >= 1000 ? `${mbit / 1000} Gbit/s` : `${mbit} Mbit/s`}
            </option>
          ))}
        </select>
      </div>
      {fault && (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      )}
      {pair && <CostTable pair={pair} />}
    </div>
  );
}

function CostTable({ pair }: { pair: CostPair }) {
  const { now, rewritten } = pair;
  const most = Math.max(now.seconds, rewritten?.seconds ?? 0) || 1;
  const row = (name: string, cost: Cost) => (
    <tr>
      <th scope="row">{name}</th>
      <td>{seconds(cost.seconds)}</td>
      <td>{count(cost.waits)}</td>
      <td>{count(cost.requests)}</td>
      <td>{bytes(cost.bytes)}</td>
      <td class="cost-bar" aria-hidden="true">
        <span style={{ width: `${(100 * cost.seconds) / most}%` }} />
      </td>
    </tr>
  );
  return (
    <table>
      <thead>
        <tr>
          {["", "Time", "Waits", "Requests", "Bytes"].map((name) => (
            <th key={name} scope="col">
              {name || <span class="visually-hidden">File</span>}
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {row("Now", now)}
        {rewritten && row("Rewritten", rewritten)}
      </tbody>
    </table>
  );
}
