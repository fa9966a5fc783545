import type { CostPair, Fault, FileMap, Listing, Place, ScanPage, Session, Target, TreeInfo } from "./types";

/** An answer of the server that is an error, or no answer. */
export class ServerError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The query that names a place. */
export function placeQuery(place: Place): string {
  return new URLSearchParams({ target: String(place.target), file: place.file, object: place.object }).toString();
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ServerError({ message: "sapwood browse does not answer: is it still running?" });
  }
  if (!response.ok) throw new ServerError(await faultOf(response));
  return response;
}

async function faultOf(response: Response): Promise<Fault> {
  const text = await response.text();
  try {
    const fault = JSON.parse(text);
    if (typeof fault.message === "string") return fault;
  } catch {
    // no JSON: the status says what there is to say
  }
  return { message: `the server answered ${response.status} ${response.statusText}`.trim() };
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, { signal })).json();
}

/** Sends a JSON body. */
export function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

export const readSession = () => get<Session>("api/session");
export const openTarget = async (url: string): Promise<Target> => (await post("api/open", { url })).json();
export const list = (place: Place) => get<Listing>(`api/ls?${placeQuery(place)}`);
export const readTree = (place: Place) => get<TreeInfo>(`api/tree?${placeQuery(place)}`);
/** How to get an object without the page. */
export const readAgain = (place: Place, signal?: AbortSignal) =>
  get<{ command: string; python: string }>(`api/object?${placeQuery(place)}`, signal);
export const readMap = (place: Place, signal?: AbortSignal) => get<FileMap>(`api/map?${placeQuery(place)}`, signal);
export const readKey = (place: Place, offset: number, signal?: AbortSignal) =>
  get<Record<string, unknown>>(`api/key?${placeQuery(place)}&offset=${offset}`, signal);
export const readDoctor = (place: Place, signal?: AbortSignal) =>
  get<Record<string, unknown>>(`api/doctor?${placeQuery(place)}`, signal);

export async function scan(
  place: Place,
  what: { columns: string; cut: string; first: number; count: number },
  signal?: AbortSignal,
): Promise<ScanPage> {
  return (await post("api/scan", { ...place, ...what }, signal)).json();
}

export async function estimate(
  place: Place,
  what: { branches: string[]; rtt_ms: number; bandwidth_mbit: number },
  signal?: AbortSignal,
): Promise<CostPair> {
  return (await post("api/cost", { ...place, ...what }, signal)).json();
}
