/** Round numbers within a range, about as many as wanted. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const out: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    out.push(Number((i * step).toPrecision(12)));
  }
  return out;
}

/** Powers of ten within a range; with 2 and 5 between them where they are few. */
export function logTicks(low: number, high: number): number[] {
  const out: number[] = [];
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / 8));
  for (let power = first; power <= last; power += every) {
    for (const m of last - first <= 2 ? [1, 2, 5] : [1]) {
      const value = m * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) out.push(value);
    }
  }
  return out;
}

/** What stands at a tick. */
export function tickLabel(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const [digits, power] = value.toExponential(6).split("e");
    return `${Number(digits)}e${Number(power)}`;
  }
  return String(Number(value.toPrecision(8)));
}
