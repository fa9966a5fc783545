import type { Io } from "../api/types";
import { seconds } from "../common/format";
import { theme } from "../plot/palette";

/** Waiting, unzipping and decoding beside each other. */
export function TimeShare({ io, dark }: { io: Io; dark: boolean }) {
  const { series } = theme(dark);
  const parts: [string, number, string][] = [
    ["Waiting", io.waiting_seconds, series[1]],
    ["Unzipping", io.unzip_seconds, series[0]],
    ["Decoding", io.decode_seconds, series[2]],
  ];
  const all = parts.reduce((sum, [, time]) => sum + time, 0);
  return (
    <div class="time-share" role="group" aria-label="Time">
      <div class="bar" aria-hidden="true">
        {parts.map(
          ([name, time, color]) =>
            time > 0 && <span key={name} style={{ width: `${(100 * time) / all}%`, background: color }} />,
        )}
      </div>
      <ul>
        {parts.map(([name, time, color]) => (
          <li key={name}>
            <span class="swatch" aria-hidden="true" style={{ background: color }} /> {name} {seconds(time)}
          </li>
        ))}
      </ul>
    </div>
  );
}
