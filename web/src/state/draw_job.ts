import { post, ServerError } from "../api/client";
import { jsonLines } from "../api/lines";
import type { DrawEvent, Fault, Histogram, Io, Place, ReadRequest } from "../api/types";
import { inTurn } from "./turn";
import { Value } from "./value";

/** What is to be drawn. */
export interface DrawSpec {
  place: Place;
  expression: string;
  cut: string;
  bins: string;
  option: string;
}

export type JobState = "running" | "done" | "failed" | "stopped";

/** One draw: the request, and what came of it so far. */
export class DrawJob {
  readonly spec: DrawSpec;
  readonly changes = new Value(0);
  readonly finished: Promise<void>;
  state: JobState = "running";
  histogram: Histogram | null = null;
  partial = true;
  /** SVG of the server for what the page does not draw by itself. */
  picture: string | null = null;
  /** Whether it is its turn, see `inTurn`. */
  begun = false;
  entries = 0;
  of: number | null = null;
  seconds = 0;
  io: Io | null = null;
  requests: ReadRequest[] = [];
  fault: Fault | null = null;
  command = "";
  python = "";
  private readonly controller = new AbortController();

  constructor(spec: DrawSpec) {
    this.spec = spec;
    this.finished = this.run();
  }

  /** Ends the request; the server then stops the work. */
  stop(): void {
    if (this.state !== "running") return;
    this.state = "stopped";
    this.controller.abort();
    this.changes.set(this.changes.get() + 1);
  }

  private async run(): Promise<void> {
    const { place, expression, cut, bins, option } = this.spec;
    try {
      const body = { ...place, expression, cut, bins, option, entries: null };
      const { signal } = this.controller;
      await inTurn(signal, async () => {
        this.begun = true;
        const response = await post("api/draw", body, signal);
        for await (const event of jsonLines<DrawEvent>(response)) this.take(event);
      });
      if (this.state === "running") this.fail({ message: "the server ended the draw before it was complete" });
    } catch (error) {
      if (this.state === "stopped") return;
      this.fail(error instanceof ServerError ? error.fault : { message: "the connection to the server broke" });
    }
  }

  private take(event: DrawEvent): void {
    if (this.state !== "running") return;
    if (event.event === "progress") {
      this.entries = event.entries;
      this.of = event.of;
      this.seconds = event.seconds;
      this.io = event.io;
    } else if (event.event === "histogram") {
      this.histogram = event.histogram;
      this.partial = event.partial;
      this.picture = event.picture ?? null;
    } else if (event.event === "requests") {
      this.requests.push(...event.requests);
    } else if (event.event === "done") {
      this.command = event.command;
      this.python = event.python;
      this.io = event.io;
      this.state = "done";
    } else if (event.event === "error") {
      this.fail(event);
      return;
    }
    this.changes.set(this.changes.get() + 1);
  }

  private fail(fault: Fault): void {
    this.fault = fault;
    this.state = "failed";
    this.changes.set(this.changes.get() + 1);
  }
}
