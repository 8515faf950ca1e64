/** Handles that keep a process alive and that only their owner can close. */
const KINDS = new Set([
  'Timeout',
  'TCPSocketWrap',
  'TCPServerWrap',
  'TLSWrap',
  'UDPWrap',
  'PipeWrap',
  'ProcessWrap',
  'FSEventWrap',
  'StatWatcher',
  'Worker',
]);

export type OpenHandles = ReadonlyMap<string, number>;

/** The number of open handles of each kind. */
export function openHandles(): OpenHandles {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (KINDS.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** The handles opened since then: `['2 × TCPSocketWrap']`. */
export function leakedSince(before: OpenHandles): string[] {
  return [...openHandles()]
    .map(([kind, count]) => ({ kind, more: count - (before.get(kind) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} × ${kind}`);
}

/** As `leakedSince`, after a grace period: on a busy machine sockets take seconds to close. */
export async function settledLeaks(before: OpenHandles, graceMs = 15_000): Promise<string[]> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const leaks = leakedSince(before);
    if (leaks.length === 0 || performance.now() > deadline) return leaks;
    // An unreferenced timer is not itself an open handle.
    await new Promise((resolve) => setImmediate(() => setTimeout(resolve, 10).unref()));
  }
}
