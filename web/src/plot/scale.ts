/** From values to pixels and back. */
export interface Scale {
  low: number;
  high: number;
  log: boolean;
  toPixel: (value: number) => number;
  toValue: (pixel: number) => number;
}

export function scale(low: number, high: number, begin: number, end: number, log = false): Scale {
  const f = log ? Math.log10 : (x: number) => x;
  const back = log ? (x: number) => 10 ** x : (x: number) => x;
  const a = f(low);
  const span = f(high) - a || 1;
  return {
    low,
    high,
    log,
    toPixel: (value) => begin + ((f(value) - a) / span) * (end - begin),
    toValue: (pixel) => back(a + ((pixel - begin) / (end - begin)) * span),
  };
}

/** Where the frame of a picture is. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export type Range = [low: number, high: number];
