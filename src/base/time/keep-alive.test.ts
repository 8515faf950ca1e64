import { expect, it } from 'vitest';
import { type KeepAliveOptions, keepAlive } from './keep-alive.ts';
import { VirtualClock } from './virtual-clock.ts';

const INTERVAL_MS = 30_000;

/** A peer that answers pings or does not, for so many intervals. */
async function watch(
  intervals: number,
  { stalledSide, answers = false }: Pick<KeepAliveOptions, 'stalledSide'> & { answers?: boolean } = {},
) {
  const clock = new VirtualClock();
  const counts = { activity: 0, pings: 0, deaths: 0 };
  using _ = keepAlive({
    ...{ clock, intervalMs: INTERVAL_MS, activity: () => counts.activity },
    ...(stalledSide && { stalledSide }),
    ping: () => {
      counts.pings++;
      if (answers) counts.activity++;
    },
    onDead: () => {
      counts.deaths++;
    },
  });
  await clock.advance(intervals * INTERVAL_MS);
  return counts;
}

it('keep-alive pings a silent peer, and gives it up an interval later', async () => {
  expect(await watch(1)).toMatchObject({ pings: 1, deaths: 0 });
  expect(await watch(2)).toMatchObject({ pings: 1, deaths: 1 });
});

it('keep-alive keeps a peer that answers', async () => {
  expect(await watch(100, { answers: true })).toMatchObject({ deaths: 0 });
});

it('keep-alive does not give up a peer while this side does not read', async () => {
  expect(await watch(100, { stalledSide: () => 'reading' })).toMatchObject({ pings: 0, deaths: 0 });
});

it('keep-alive tolerates a peer that does not read for a limited time', async () => {
  expect(await watch(10, { stalledSide: () => 'writing' })).toMatchObject({ deaths: 0 });
  expect(await watch(11, { stalledSide: () => 'writing' })).toMatchObject({ deaths: 1 });
});
