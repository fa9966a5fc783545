import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

interface Visible {
  first: number;
  last: number;
}

/** Which lines of a list are in sight, with a few around them. */
export function useVisible(box: RefObject<HTMLElement | null>, total: number, height: number): Visible {
  const [visible, setVisible] = useState<Visible>({ first: 0, last: 40 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / height) - 8);
      const last = Math.ceil((element.scrollTop + element.clientHeight) / height) + 8;
      setVisible((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [box, height]);
  return { first: Math.min(visible.first, Math.max(0, total - 1)), last: Math.min(visible.last, total) };
}

/** Scrolls a line into sight. */
export function useReveal(box: RefObject<HTMLElement | null>, index: number, height: number): void {
  useEffect(() => {
    const element = box.current;
    if (!element || index < 0) return;
    const top = index * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + height - element.clientHeight;
    }
  }, [box, index, height]);
}

/** The space that all lines take, with those in sight at their place. */
export function Lines(props: { total: number; height: number; first: number; children: ComponentChildren }) {
  return (
    <div class="lines" role="presentation" style={{ height: `${props.total * props.height}px` }}>
      <div role="presentation" style={{ transform: `translateY(${props.first * props.height}px)` }}>
        {props.children}
      </div>
    </div>
  );
}
