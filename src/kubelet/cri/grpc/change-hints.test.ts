import { expect, test } from 'vitest';
import { type GrpcClient, realClock, waitForAbort } from '#base';
import { ChangeHints } from './change-hints.ts';

/** Hints of a stream that sends one event and then nothing, on a clock whose timers the test fires. */
function hintsOf(event: object) {
  const ended = new AbortController();
  const timers: { readonly delayMs: number; readonly fire: () => void }[] = [];
  const setTimer = (delayMs: number, fire: () => void) => {
    timers.push({ delayMs, fire });
    return { cancel: () => {} };
  };
  async function* serverStream() {
    yield event;
    await waitForAbort(ended.signal);
  }
  const client = { serverStream } as unknown as Pick<GrpcClient, 'serverStream'>;
  const hints = new ChangeHints(client, { clock: { ...realClock, setTimer }, signal: ended.signal });
  const stop = async () => {
    ended.abort();
    await hints.done;
  };
  return { timers, hints, [Symbol.asyncDispose]: stop };
}

test.each(['stopped', 'deleted'])('a %s container is reported as a change at once', async (type) => {
  await using stream = hintsOf({ type });
  expect(await stream.hints.wait(10_000)).toBe(true);
});

test.each(['created', 'started'])('a %s container is reported as a change after a second, together with others', async (type) => {
  await using stream = hintsOf({ type });
  await expect.poll(() => stream.timers.map(({ delayMs }) => delayMs)).toEqual([1_000]);
  const waiting = stream.hints.wait(10_000);
  stream.timers[0]?.fire();
  expect(await waiting).toBe(false);
});
