/** Colours that people with any kind of colour vision tell apart (Okabe and Ito), for a light and a dark page. */
const LIGHT = ["#0072b2", "#d55e00", "#007a58", "#a8437f", "#7a6000", "#2f7fb5", "#5b3fa0", "#333333"];
const DARK = ["#56b4e9", "#f08a3c", "#2fc49a", "#e08fbf", "#e6c83c", "#9fd0f0", "#b9a3ee", "#dddddd"];

/** Colours of a picture. They are attributes, so that a picture that is kept has them. */
export interface Theme {
  dark: boolean;
  background: string;
  text: string;
  dim: string;
  grid: string;
  series: string[];
}

export const theme = (dark: boolean): Theme =>
  dark
    ? { dark, background: "#16191d", text: "#e6e8ea", dim: "#a3abb3", grid: "#2b3138", series: DARK }
    : { dark, background: "#ffffff", text: "#1b1f23", dim: "#56606a", grid: "#e3e7eb", series: LIGHT };

// Points of the colour map cividis: it rises evenly in lightness, and looks alike with and without red and green.
const RAMP = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 157, 117],
  [195, 181, 106],
  [225, 206, 85],
  [254, 232, 56],
];

/** The colour of a share between 0 and 1. */
export function ramp(share: number): string {
  const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const i = Math.min(RAMP.length - 2, Math.floor(at));
  const mixed = RAMP[i].map((low, c) => Math.round(low + (RAMP[i + 1][c] - low) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}
