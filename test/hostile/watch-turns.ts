/**
 * Measures the CPU time of the longest turn of the event loop, including that of the garbage collector's threads, so that load on the
 * machine has no effect.
 */
export function watchTurns(): { stop(): number } {
  let longest = 0;
  let last = process.cpuUsage();
  const beat = () => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.cpuUsage();
    next = setImmediate(beat);
  };
  let next = setImmediate(beat);
  return {
    stop() {
      clearImmediate(next);
      return longest;
    },
  };
}

const ATTEMPTS = 3;

/**
 * The response to a request, and its longest turn. A request over the budget is sent again: a stall caused by the input recurs, one by a
 * garbage collection or a compilation does not.
 */
export async function timedTurns<T>(budgetMs: number, ask: () => Promise<T>): Promise<{ readonly answer: T; readonly longestMs: number }> {
  for (let attempt = 1; ; attempt++) {
    const watch = watchTurns();
    const answer = await ask();
    const longestMs = watch.stop();
    if (longestMs < budgetMs || attempt === ATTEMPTS) return { answer, longestMs };
  }
}
