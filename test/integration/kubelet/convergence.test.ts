import { expect, it } from 'vitest';
import { core } from '#api';
import { seededRandom } from '#base';
import type { ContainerRuntime } from '#kubelet';
import { openNodeBench } from './node-bench.ts';

const SCRIPTS: readonly Record<string, string>[] = [
  {},
  { 'run-time': '40s', 'exit-code': '1' },
  { 'pull-time': '15s', 'stop-time': '7s' },
  { 'start-time': '3s', 'stop-time': 'never' },
  { 'pull-error': 'gone', 'pull-failures': '1' },
  { 'liveness-probe': 'pass,fail@50s' },
];

function containersOf(runtime: ContainerRuntime, podUid: string) {
  return runtime.listContainers({ labelSelector: { 'io.kubernetes.pod.uid': podUid } });
}

/** Fails when a container is created while another with the same name in the same pod still runs. */
function forbidDoubles(runtime: ContainerRuntime): void {
  const create = runtime.createContainer.bind(runtime);
  runtime.createContainer = async (sandboxId, request) => {
    const { name } = request.config.metadata;
    const podUid = request.sandboxConfig.metadata.uid;
    const alive = (await containersOf(runtime, podUid)).filter(({ metadata, state }) => metadata.name === name && state === 'running');
    if (alive.length > 0) throw new Error(`container ${name} of ${podUid} is started twice`);
    return create(sandboxId, request);
  };
}

it.each([1, 2, 6, 15, 25, 28])(
  'any history of edits, deaths, crashes and cuts converges, and starts nothing twice (seed %i)',
  async (seed) => {
    await using bench = await openNodeBench({}, seed);
    const { clock, kubelet, runtime, client } = bench;
    const random = seededRandom(`history ${seed}`);
    forbidDoubles(runtime);
    const pods = client.of(core.Pod);
    const refused = (error: unknown) => expect((error as { code?: number }).code).toBeGreaterThanOrEqual(400);
    let count = 0;
    let isDown = false;
    const steps: readonly (() => Promise<unknown>)[] = [
      () => {
        const probe = { exec: { command: ['x'] }, periodSeconds: 5 };
        const containers = [{ name: 'c', image: 'app:1', ...(random.int(2) === 0 && { livenessProbe: probe, readinessProbe: probe }) }];
        const restartPolicy = random.pick(['Always', 'Never', 'OnFailure']);
        return bench.create(`p${count++}`, { containers: containers as never, restartPolicy, annotations: random.pick(SCRIPTS) });
      },
      async () => {
        const names = await bench.names();
        if (names.length > 0) await bench.delete(random.pick(names), random.pick([undefined, 0, 3, 30])).catch(refused);
      },
      async () => {
        const names = await bench.names();
        if (names.length === 0) return;
        const spec = { containers: [{ name: 'c', image: `app:${random.int(3)}` }] };
        await pods.patch({ name: random.pick(names), namespace: 'default' }, { spec }, { type: 'strategic' }).catch(refused);
      },
      async () => {
        const running = (await runtime.listContainers()).filter(({ state }) => state === 'running');
        if (running.length > 0) void runtime.stopContainer(random.pick(running).id, 0);
      },
      async () => {
        if (isDown) await kubelet.recover();
        else if (random.int(2) === 0) kubelet.partition();
        else await kubelet.crash();
        isDown = !isDown;
      },
      async () => {
        if (!isDown) await kubelet.restart();
      },
      () => clock.advance(random.int(30_000)),
      () => clock.advance(random.int(3000)),
    ];
    for (let i = 0; i < 40; i++) {
      await random.pick(steps)();
      await clock.settle();
    }
    if (isDown) await kubelet.recover();
    await clock.advance(900_000);
    const left = (await pods.list()).items;
    expect(left.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
    const uids = left.map(({ metadata }) => metadata.uid).toSorted();
    const sandboxes = await runtime.listPodSandbox();
    expect(sandboxes.filter((sandbox) => !uids.includes(sandbox.metadata.uid))).toEqual([]);
    for (const { metadata, status, spec } of left) {
      const alive = (await containersOf(runtime, metadata.uid ?? '')).filter(({ state }) => state === 'running');
      const runningStatuses = (status?.containerStatuses ?? []).filter(({ state }) => state?.running !== undefined);
      expect(runningStatuses.map(({ containerID }) => containerID)).toEqual(alive.map(({ id }) => `simulated://${id}`));
      if (spec?.restartPolicy === 'Always') expect(status?.phase).toBe('Running');
      if (alive.length > 0) expect(alive.map(({ image }) => image.image)).toEqual(spec?.containers?.map(({ image }) => image));
    }
  },
);
