/**
 * Draws at once of all tabs of this page. Each keeps a connection, of which browsers have six for an address: with all of
 * them taken no other tab could be opened.
 */
const MOST = 4;

const name = (place: number) => `sapwood-draw-${place}`;

/** Does some work when it is its turn among the draws of all tabs. `signal` ends the wait. */
export async function inTurn(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  // only pages of a safe origin have locks: this machine's, but not in a frame of a notebook on another one
  const locks = navigator.locks as LockManager | undefined;
  if (!locks) return work();
  for (let place = 0; place < MOST; place++) {
    const taken = await locks.request(name(place), { ifAvailable: true }, async (lock) => {
      if (lock) await work();
      return lock !== null;
    });
    if (taken) return;
    signal.throwIfAborted();
  }
  await locks.request(name(Math.floor(Math.random() * MOST)), { signal }, work);
}
