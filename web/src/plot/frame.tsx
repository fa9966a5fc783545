import type { Theme } from "./palette";
import type { Box, Scale } from "./scale";
import { logTicks, tickLabel, ticks } from "./ticks";

interface Props {
  box: Box;
  x: Scale;
  y: Scale;
  theme: Theme;
  xTitle: string;
  yTitle: string;
  xLabels: (string | null)[] | null;
  yLabels: (string | null)[] | null;
}

const FONT = "system-ui, sans-serif";
const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

interface Tick {
  at: number;
  label: string;
}

/** Ticks of an axis: round numbers, or the names of its bins. */
function marks(s: Scale, wanted: number, labels: (string | null)[] | null): Tick[] {
  if (labels) {
    const every = Math.max(1, Math.ceil(labels.length / (wanted * 2)));
    const width = 1;
    return labels.flatMap((label, i) => {
      const at = s.toPixel(s.low + (i + 0.5) * width);
      return label !== null && i % every === 0 && s.low + i < s.high ? [{ at, label: clip(label, 14) }] : [];
    });
  }
  const values = s.log ? logTicks(s.low, s.high) : ticks(s.low, s.high, wanted);
  return values.map((v) => ({ at: s.toPixel(v), label: tickLabel(v) }));
}

/** The frame of a picture: axes, grid, titles. */
export function Frame({ box, x, y, theme, xTitle, yTitle, xLabels, yLabels }: Props) {
  const width = box.right - box.left;
  const height = box.bottom - box.top;
  const alongX = marks(x, Math.max(3, width / 90), xLabels);
  const alongY = marks(y, Math.max(3, height / 55), yLabels);
  const text = { fill: theme.dim, "font-size": 11, "font-family": FONT };
  return (
    <g>
      {alongX.map((t) => (
        <g key={t.at}>
          <line x1={t.at} x2={t.at} y1={box.top} y2={box.bottom} stroke={theme.grid} />
          <text {...text} x={t.at} y={box.bottom + 16} text-anchor="middle">
            {t.label}
          </text>
        </g>
      ))}
      {alongY.map((t) => (
        <g key={t.at}>
          <line x1={box.left} x2={box.right} y1={t.at} y2={t.at} stroke={theme.grid} />
          <text {...text} x={box.left - 6} y={t.at + 4} text-anchor="end">
            {t.label}
          </text>
        </g>
      ))}
      <rect x={box.left} y={box.top} width={width} height={height} fill="none" stroke={theme.dim} />
      <text {...text} fill={theme.text} font-size={12} x={box.right} y={box.bottom + 34} text-anchor="end">
        {clip(xTitle, Math.floor(width / 6))}
      </text>
      <text
        {...text}
        fill={theme.text}
        font-size={12}
        text-anchor="end"
        transform={`translate(${box.left - 46} ${box.top}) rotate(-90)`}
      >
        {clip(yTitle, Math.floor(height / 6))}
      </text>
    </g>
  );
}
