// What the user chose in the views of I/O, map and doctor, and how an address says it.

export type IoAxis = "entry" | "time";

/** The part of the map that is in sight, and the regions and branches that are chosen, by their numbers. */
export interface MapSight {
  from: number;
  span: number;
  /** -1 for none. */
  region: number;
  /** The branches that have a colour; null for the largest. */
  branches: number[] | null;
}

/** A network: round-trip time in milliseconds, bandwidth in Mbit/s. */
export interface Network {
  rtt: number;
  bandwidth: number;
}

export const USUAL_NETWORK: Network = { rtt: 20, bandwidth: 1000 };
export const MOST_RTT = 300;
export const BANDWIDTHS = [100, 1000, 10_000];

const whole = (word: string | undefined): number | null => (word && /^\d{1,15}$/.test(word) ? Number(word) : null);

export function writeMap(sight: MapSight | null): string {
  if (!sight) return "";
  const region = sight.region < 0 ? "" : sight.region;
  const words = [Math.floor(sight.from), Math.ceil(sight.span), region];
  return [...words, ...(sight.branches ? [sight.branches.join(".")] : [])].join(":");
}

/** What an address says of the map; numbers that the file does not have are left to the map. */
export function readMap(text: string): MapSight | null {
  const [from, span, region, branches] = text.split(":");
  const [at, length] = [whole(from), whole(span)];
  if (at === null || !length) return null;
  const colored = branches?.split(".").map(whole);
  return {
    from: at,
    span: length,
    region: whole(region) ?? -1,
    branches: colored ? colored.filter((number) => number !== null) : null,
  };
}

export function writeNetwork({ rtt, bandwidth }: Network): string {
  return rtt === USUAL_NETWORK.rtt && bandwidth === USUAL_NETWORK.bandwidth ? "" : `${rtt}:${bandwidth}`;
}

export function readNetwork(text: string): Network {
  const [rtt, bandwidth] = text.split(":").map(whole);
  if (rtt == null || rtt > MOST_RTT || bandwidth == null || !BANDWIDTHS.includes(bandwidth)) return USUAL_NETWORK;
  return { rtt, bandwidth };
}
