import type { Range } from "../plot/scale";

/** What of a picture the user chose. */
export interface Look {
  log: boolean;
  errors: boolean;
  x: Range | null;
  y: Range | null;
}

export const PLAIN: Look = { log: false, errors: false, x: null, y: null };

const NUMBER = /^-?[\d.]+(e[+-]?\d+)?$/;

/** A look as the part of an address; empty for the plain one. */
export function writeLook({ log, errors, x, y }: Look): string {
  const range = (name: string, of: Range | null) => (of ? [`${name}:${of[0]}:${of[1]}`] : []);
  return [log ? "log" : [], errors ? "errors" : [], range("x", x), range("y", y)].flat().join(",");
}

/** The look that a part of an address says; what makes no sense in it is not taken. */
export function readLook(text: string): Look {
  const words = text.split(",");
  const range = (name: string): Range | null => {
    const [, low, high, more] = words.find((word) => word.startsWith(`${name}:`))?.split(":") ?? [];
    if (more !== undefined || !NUMBER.test(low ?? "") || !NUMBER.test(high ?? "")) return null;
    const [a, b] = [Number(low), Number(high)];
    return Number.isFinite(a) && Number.isFinite(b) && a < b ? [a, b] : null;
  };
  return { log: words.includes("log"), errors: words.includes("errors"), x: range("x"), y: range("y") };
}
