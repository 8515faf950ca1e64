import { expect, it } from 'vitest';
import { createLogger, VirtualClock } from '#base';
import { RuntimeError } from '../../../src/kubelet/cri/runtime.ts';
import { openNodeBench } from './node-bench.ts';

it('an error of the runtime in a step that a deletion interrupted is logged, and the pod is removed', async () => {
  const lines: string[] = [];
  const logger = createLogger({ clock: new VirtualClock(), write: (line) => lines.push(line) });
  await using bench = await openNodeBench({}, 1, { logger });
  let reject: (error: Error) => void = () => {};
  const failure = new Promise<never>((_, fail) => {
    reject = fail;
  });
  bench.runtime.createContainer = () => failure;
  await bench.create('p');
  await bench.delete('p');
  reject(new RuntimeError('unknown', 'no space left on device'));
  await bench.clock.advance(60_000);
  const interrupted = lines.filter((line) => line.includes('a pod sync that a deletion interrupted failed'));
  expect(interrupted).toHaveLength(1);
  expect(interrupted[0]).toContain('no space left on device');
  await expect(bench.pod('p')).rejects.toMatchObject({ code: 404 });
});
