import { useEffect, useState } from "preact/hooks";
import { draws } from "./app_state";
import type { DrawJob } from "./draw_job";
import { useValue } from "./value";

/** The draws on the canvas; the component is drawn again when one of them gets on, at most once per frame. */
export function useJobs(): DrawJob[] {
  const jobs = useValue(draws);
  const [, redraw] = useState(0);
  useEffect(() => {
    let frame = 0;
    const later = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        redraw((n) => n + 1);
      });
    };
    const stops = jobs.map((job) => job.changes.watch(later));
    later();
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
    };
  }, [jobs]);
  return jobs;
}
