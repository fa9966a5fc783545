import { useRef, useState } from "preact/hooks";
import type { Layout } from "./picture";
import type { Range } from "./scale";

interface Point {
  x: number;
  y: number;
}

/** A range that was dragged over: along x, and along y in a picture of two variables. */
export interface Dragged {
  x: Range;
  y: Range | null;
}

interface Props {
  where: Layout;
  onHover: (x: number, y: number) => void;
  onLeave: () => void;
  onDragged: (range: Dragged) => void;
}

const LEAST = 4;

/** Catches the pointer over a picture, and shows the range that is dragged. */
export function DragArea({ where, onHover, onLeave, onDragged }: Props) {
  const { box, x, y, two } = where;
  const start = useRef<Point | null>(null);
  const [end, setEnd] = useState<Point | null>(null);

  const at = (event: PointerEvent & { currentTarget: HTMLElement }): Point => {
    const area = event.currentTarget.getBoundingClientRect();
    return {
      x: Math.max(box.left, Math.min(box.right, event.clientX - area.left)),
      y: Math.max(box.top, Math.min(box.bottom, event.clientY - area.top)),
    };
  };
  const ordered = (a: number, b: number): Range => [Math.min(a, b), Math.max(a, b)];
  const finish = () => {
    const from = start.current;
    start.current = null;
    setEnd(null);
    if (!from || !end || Math.abs(end.x - from.x) < LEAST || (two && Math.abs(end.y - from.y) < LEAST)) return;
    onDragged({
      x: ordered(x.toValue(from.x), x.toValue(end.x)),
      y: two ? ordered(y.toValue(from.y), y.toValue(end.y)) : null,
    });
  };

  const from = start.current;
  const left = from && end ? Math.min(from.x, end.x) : 0;
  const top = from && end && two ? Math.min(from.y, end.y) : box.top;
  return (
    <div
      class="drag-area"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = at(event);
        setEnd(start.current);
      }}
      onPointerMove={(event) => {
        const point = at(event);
        if (start.current) setEnd(point);
        onHover(x.toValue(point.x), y.toValue(point.y));
      }}
      onPointerUp={finish}
      onPointerCancel={() => {
        start.current = null;
        setEnd(null);
      }}
      onPointerLeave={onLeave}
    >
      {from && end && (
        <div
          class="selection"
          style={{
            left: `${left}px`,
            top: `${top}px`,
            width: `${Math.abs(end.x - from.x)}px`,
            height: `${two ? Math.abs(end.y - from.y) : box.bottom - box.top}px`,
          }}
        />
      )}
    </div>
  );
}
