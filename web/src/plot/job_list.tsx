import { count, seconds } from "../common/format";
import { removeDraw } from "../state/actions";
import { form } from "../state/app_state";
import type { DrawJob } from "../state/draw_job";
import { useValue } from "../state/value";

/** The draws of the canvas: how far each is, what went wrong, and a button that removes it. */
export function JobList({ jobs, hidden }: { jobs: DrawJob[]; hidden: DrawJob[] }) {
  const boxes = useValue(form);
  if (jobs.length === 0) return null;
  return (
    <ul class="jobs" aria-label="Draws">
      {jobs.map((job, i) => (
        <li key={i} data-state={job.state}>
          <span class="job-name">
            {job.spec.cut ? `${job.spec.expression} {${job.spec.cut}}` : job.spec.expression}
          </span>
          <JobState job={job} />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${job.spec.expression}`}
            onClick={() => removeDraw(job)}
          >
            Remove
          </button>
          {hidden.includes(job) && <p class="note">another kind of picture than the first: draw it by itself</p>}
          {job.fault && !(job.fault.field && job.spec[job.fault.field] === boxes[job.fault.field]) && (
            <p class="fault" role="alert">
              {job.fault.message}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function JobState({ job }: { job: DrawJob }) {
  if (job.state === "running") {
    return (
      <>
        <progress
          aria-label={`Progress of ${job.spec.expression}`}
          value={job.of ? job.entries : undefined}
          max={job.of ?? undefined}
        />
        <span class="dim">
          {job.of
            ? `${count(job.entries)} of ${count(job.of)} entries`
            : job.begun
              ? "begins"
              : "waits for other draws"}
          {job.seconds > 1 && `, ${seconds(job.seconds)}`}
        </span>
      </>
    );
  }
  if (job.state === "stopped") return <span class="dim">stopped after {count(job.entries)} entries</span>;
  if (job.state === "failed") return <span class="dim">failed</span>;
  return <span class="dim">{job.histogram ? `${count(job.histogram.entries)} filled` : "done"}</span>;
}
