import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { openNodeBench } from './node-bench.ts';

const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
const pod = (overrides: object = {}) => ({
  restartPolicy: 'Never',
  initContainers: [{ name: 'init', image: 'app:1' }],
  containers: [
    { name: 'a', image: 'app:1', restartPolicy: 'Never', restartPolicyRules: rules },
    { name: 'b', image: 'app:1' },
  ],
  annotations: { 'run-time.init': '1s', 'run-time.a': '5s', 'exit-code.a': '42,0', ...overrides },
});
const restarting = ({ conditions = [] }: core.PodStatus) => conditions.find(({ type }) => type === 'AllContainersRestarting');
const counts = (statuses: readonly core.ContainerStatus[] = []) => statuses.map(({ name, restartCount }) => [name, restartCount]);

describe('a pod whose container asks for a restart of all', () => {
  it('runs its init containers and all others anew in the same sandbox', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', pod() as never);
    await bench.clock.advance(1500);
    const before = await bench.status('p');
    expect(restarting(before)).toMatchObject({ status: 'False' });
    await bench.clock.advance(4600);
    // Not immediately: the init container runs for a second again.
    const status = await bench.status('p');
    expect(counts(status.initContainerStatuses)).toEqual([['init', 1]]);
    expect(status.containerStatuses?.map(({ state }) => state?.waiting?.reason)).toEqual(['PodInitializing', 'PodInitializing']);
    await bench.clock.advance(2000);
    const after = await bench.status('p');
    expect(after.phase).toBe('Running');
    expect(counts(after.containerStatuses)).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(after.containerStatuses?.[1]?.lastState?.terminated).toMatchObject({
      ...{ exitCode: 137, reason: 'RestartingAllContainers', message: 'The container is removed because RestartAllContainers in place' },
    });
    expect(restarting(after)).toMatchObject({ status: 'False' });
    expect(after.podIP).toBe(before.podIP);
    expect(await bench.events('p')).toContain('Killing: killing');
  });

  it('fails when it ends otherwise, though another container goes on', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', pod({ 'exit-code.a': '7' }) as never);
    await bench.clock.advance(10_000);
    const status = await bench.status('p');
    expect(status.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 7 });
    expect(counts(status.containerStatuses)).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
  });
});
