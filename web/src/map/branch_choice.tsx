import { useState } from "preact/hooks";
import type { FileMap } from "../api/types";

interface Props {
  map: FileMap;
  chosen: number[];
  colors: string[];
  onChoose: (chosen: number[]) => void;
}

const MOST = 60;

/** Which branches have a colour on the map. */
export function BranchChoice({ map, chosen, colors, onChoose }: Props) {
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase();
  const found: number[] = [...chosen];
  for (let i = 0; i < map.branches.length && found.length < MOST; i++) {
    if (!chosen.includes(i) && map.branches[i].toLowerCase().includes(wanted)) found.push(i);
  }
  const toggle = (branch: number) => {
    if (chosen.includes(branch)) onChoose(chosen.filter((other) => other !== branch));
    else onChoose([...chosen, branch].slice(-colors.length));
  };
  return (
    <fieldset class="branch-choice">
      <legend>Coloured branches</legend>
      <input
        type="search"
        value={filter}
        placeholder="Filter branches"
        aria-label="Filter the branches of the map"
        onInput={(e) => setFilter(e.currentTarget.value)}
      />
      <ul>
        {found.map((branch) => {
          const place = chosen.indexOf(branch);
          return (
            <li key={branch}>
              <label>
                <input type="checkbox" checked={place >= 0} onChange={() => toggle(branch)} />
                <span
                  class="swatch"
                  aria-hidden="true"
                  style={{ background: place >= 0 ? colors[place % colors.length] : "transparent" }}
                />
                {map.branches[branch]}
              </label>
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}
