import { expect, test } from 'vitest';
import { silentLogger, VirtualClock } from '#base';
import { ResourceSliceCleanup } from './resource-slice-cleanup.ts';

/** What was removed, by the field selectors of the requests; the first ones may fail. */
function recordingClient(failures = 0) {
  const removed: string[] = [];
  let left = failures;
  const deleteCollection = async ({ fieldSelector = '' }: { fieldSelector?: string }) => {
    if (left-- > 0) throw new Error('not now');
    removed.push(fieldSelector);
  };
  return { removed, client: { of: () => ({ deleteCollection }) } as never };
}

test('the ResourceSlices of a driver are removed after it is disconnected for half a minute', async () => {
  const clock = new VirtualClock();
  const { client, removed } = recordingClient(1);
  await using drivers = new ResourceSliceCleanup({ client, clock, logger: silentLogger, nodeName: 'n' });
  drivers.departed('updated');
  drivers.departed('gone');
  await clock.advance(29_000);
  drivers.returned('updated');
  expect(removed).toEqual([]);
  await clock.advance(60_000);
  expect(removed).toEqual(['spec.nodeName=n,spec.driver=gone']);
});

test('all ResourceSlices of the node are removed when the kubelet starts', async () => {
  const { client, removed } = recordingClient();
  await using drivers = new ResourceSliceCleanup({ client, clock: new VirtualClock(), logger: silentLogger, nodeName: 'n' });
  drivers.removeAll();
  await expect.poll(() => removed).toEqual(['spec.nodeName=n']);
});
