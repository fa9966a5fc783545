const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Bytes as people read them: 1.23 MB. */
export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return "";
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit]}`;
}

/** A whole number with narrow spaces between the thousands. */
export function count(n: number | null | undefined): string {
  if (n === null || n === undefined) return "";
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** A time as people read it. */
export function seconds(s: number | null | undefined): string {
  if (s === null || s === undefined) return "";
  if (s === 0) return "0 s";
  if (s < 0.0995) return `${(s * 1000).toPrecision(s < 0.001 ? 2 : 3)} ms`;
  if (s < 120) return `${s.toPrecision(3)} s`;
  return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

/** A number with at most six digits. */
export function short(x: number): string {
  if (!Number.isFinite(x)) return String(x);
  if (x !== 0 && (Math.abs(x) >= 1e7 || Math.abs(x) < 1e-4)) return x.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(x.toPrecision(6)));
}
