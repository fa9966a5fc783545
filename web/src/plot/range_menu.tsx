import { useEffect, useRef } from "preact/hooks";
import { short } from "../common/format";
import type { Dragged } from "./drag";

interface Props {
  range: Dragged;
  onZoom: () => void;
  onCut: () => void;
  onBins: () => void;
  onClose: () => void;
}

/** What can be done with a range that was dragged. */
export function RangeMenu({ range, onZoom, onCut, onBins, onClose }: Props) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  const text = [range.x, range.y].filter((r) => r !== null).map(([a, b]) => `${short(a)} to ${short(b)}`);
  return (
    <div
      class="range-menu"
      role="group"
      aria-label="Chosen range"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <span class="dim">{text.join(" × ")}</span>
      <button type="button" ref={first} onClick={onZoom}>
        Zoom
      </button>
      <button type="button" onClick={onCut}>
        Add to cut
      </button>
      <button type="button" onClick={onBins}>
        Bin this range
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  );
}
