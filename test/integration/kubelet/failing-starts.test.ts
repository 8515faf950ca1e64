import { expect, it } from 'vitest';
import { core } from '#api';
import { RuntimeError } from '../../../src/kubelet/cri/runtime.ts';
import { openNodeBench } from './node-bench.ts';

it('creating a container is retried with backoff, even if each error has another text', async () => {
  await using bench = await openNodeBench();
  let attempts = 0;
  bench.runtime.createContainer = async () => {
    // Long enough for the status of the last attempt to be written.
    await bench.clock.sleep(20);
    throw new RuntimeError('unknown', `mount callback failed on /tmp/mount${++attempts}: unexpected EOF`);
  };
  await bench.create('p');
  await bench.clock.advance(5_000);
  expect(attempts).toBe(1);
  await bench.clock.advance(60_000);
  expect(attempts).toBeGreaterThan(2);
  expect(attempts).toBeLessThan(10);
  expect((await bench.container('p')).state?.waiting?.message).toContain(`/tmp/mount${attempts}:`);
});

it('an ephemeral container waits for its target container', async () => {
  await using bench = await openNodeBench();
  await bench.create('p', { containers: [{ name: 'c', image: 'missing.invalid/app:1' }] as never });
  const ephemeral = { name: 'd', image: 'app:1', targetContainerName: 'c' };
  await bench.client
    .of(core.Pod)
    .patch({ name: 'p', namespace: 'default' }, { spec: { ephemeralContainers: [ephemeral] } }, { subresource: 'ephemeralcontainers' });
  await bench.clock.settle();
  expect((await bench.status('p')).ephemeralContainerStatuses?.[0]?.state).toEqual({
    waiting: { reason: 'CreateContainerConfigError', message: 'unable to find target container c' },
  });
  expect(await bench.events('p')).toContain('Failed: Error: unable to find target container c');
});
