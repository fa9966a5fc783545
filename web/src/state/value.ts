import { useEffect, useState } from "preact/hooks";

/** A value that components watch. */
export class Value<T> {
  private readonly listeners = new Set<() => void>();
  private current: T;

  constructor(initial: T) {
    this.current = initial;
  }

  get(): T {
    return this.current;
  }

  set(next: T): void {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  }

  /** Tells the watchers of a change inside of the value. */
  changed(): void {
    for (const listener of [...this.listeners]) listener();
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** The value; the component is drawn again when it changes. */
export function useValue<T>(value: Value<T>): T {
  const [, redraw] = useState(0);
  useEffect(() => {
    // at once: a box that is drawn with an older text would lose what was typed since
    const stop = value.watch(() => redraw((n) => n + 1));
    redraw((n) => n + 1);
    return stop;
  }, [value]);
  return value.get();
}
