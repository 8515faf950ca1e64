/**
 * Measures how much of the processor's time the longest turn of the event loop takes, with that of the garbage collector's threads, so that a busy
 * machine makes no difference.
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
 * What a request answers, and its longest turn. One over the budget is asked again: a stall that the input causes comes again, a collection of
 * garbage or a compilation that fell into it does not.
 */
export async function timedTurns<T>(budgetMs: number, ask: () => Promise<T>): Promise<{ readonly answer: T; readonly longestMs: number }> {
  for (let attempt = 1; ; attempt++) {
    const watch = watchTurns();
    const answer = await ask();
    const longestMs = watch.stop();
    if (longestMs < budgetMs || attempt === ATTEMPTS) return { answer, longestMs };
  }
}
