import { describe, expect, it, vi } from 'vitest';
import { coordination, core } from '#api';
import { openNodeBench } from './node-bench.ts';

const types = (status: core.PodStatus) => Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));

describe('a pod', () => {
  it('runs without time passing, with upstream’s status and events', async () => {
    await using bench = await openNodeBench();
    await bench.create('p');
    const status = await bench.status('p');
    expect(status).toMatchObject({ phase: 'Running', hostIP: '192.0.2.1', podIP: expect.any(String), startTime: expect.any(String) });
    expect(types(status)).toEqual({
      ...{ PodReadyToStartContainers: 'True', Initialized: 'True', Ready: 'True', ContainersReady: 'True', PodScheduled: 'True' },
    });
    expect(status.containerStatuses?.[0]).toMatchObject({ ready: true, started: true, restartCount: 0, state: { running: {} } });
    expect(await bench.events('p')).toEqual([
      'Pulling: Pulling image "app:1"',
      'Pulled: Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 52428800 bytes.',
      'Created: Container created',
      'Started: Container started',
    ]);
  });

  const ends: readonly [string, string, string, object][] = [
    ['Never', '0', 'Succeeded', { terminated: { exitCode: 0, reason: 'Completed' } }],
    ['Never', '3', 'Failed', { terminated: { exitCode: 3, reason: 'Error' } }],
    ['OnFailure', '0', 'Succeeded', { terminated: { exitCode: 0 } }],
    ['OnFailure', '1', 'Running', { waiting: { reason: 'CrashLoopBackOff' } }],
    ['Always', '0', 'Running', { waiting: { reason: 'CrashLoopBackOff' } }],
  ];
  it.each(ends)('with restart policy %s whose container ends with %s is %s', async (restartPolicy, code, phase, state) => {
    await using bench = await openNodeBench();
    await bench.create('p', { restartPolicy, annotations: { 'exit-code': code } });
    await bench.clock.advance(1000);
    const status = await bench.status('p');
    expect(status.phase).toBe(phase);
    expect(status.containerStatuses?.[0]?.state).toMatchObject(state);
    expect(types(status)).toMatchObject({ Ready: 'False', ContainersReady: 'False' });
  });

  it('that crashes is restarted at once, then after 10 s, 20 s, 40 s … 5 min', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'exit-code': '1' } });
    const restarts = async () => (await bench.container('p')).restartCount;
    const seen: number[] = [];
    for (const ms of [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      await bench.clock.advance(ms);
      seen.push(await restarts());
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const container = await bench.container('p');
    expect(container.state?.waiting?.message).toMatch(/^back-off 5m0s restarting failed container=c pod=p_default\(.*\)$/);
    expect(container.lastState?.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
    expect((await bench.events('p')).some((event) => /^BackOff: Back-off restarting failed container c in pod p_default/.test(event))).toBe(
      true,
    );
    expect(await bench.runtime.listContainers()).toHaveLength(2);
  });

  it('shows why its image cannot be pulled, and runs when it can', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'pull-error': 'manifest unknown', 'pull-failures': '2' } });
    expect((await bench.container('p')).state?.waiting).toEqual({
      reason: 'ErrImagePull',
      message: 'manifest unknown',
    });
    expect(await bench.status('p')).toMatchObject({ phase: 'Pending' });
    await bench.clock.advance(2000);
    const message = 'Back-off pulling image "app:1": ErrImagePull: manifest unknown';
    expect((await bench.container('p')).state?.waiting).toEqual({ reason: 'ImagePullBackOff', message });
    await bench.clock.advance(8000);
    await bench.clock.advance(20_000);
    expect(await bench.status('p')).toMatchObject({ phase: 'Running' });
    expect(await bench.events('p')).toContain('Failed: Failed to pull image "app:1": manifest unknown');
  });

  it('waits in ContainerCreating while its image is pulled', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'pull-time': '1m' } });
    expect((await bench.container('p')).state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    await bench.clock.advance(60_000);
    expect((await bench.container('p')).state?.running).toBeDefined();
  });

  it('runs init containers one after another before its containers', async () => {
    await using bench = await openNodeBench();
    const containers = [{ name: 'c', image: 'app:1' }] as never;
    const initContainers = [
      { name: 'i1', image: 'init:1' },
      { name: 'i2', image: 'init:1' },
    ] as never;
    await bench.create('p', { containers, initContainers, annotations: { 'run-time.i1': '5s', 'run-time.i2': '5s' } });
    const status = await bench.status('p');
    expect(status.phase).toBe('Pending');
    expect(status.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})[0])).toEqual(['running', 'waiting']);
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
    expect(status.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
      ...{ status: 'False', reason: 'ContainersNotInitialized', message: 'containers with incomplete status: [i1 i2]' },
    });
    await bench.clock.advance(10_000);
    const after = await bench.status('p');
    expect(after).toMatchObject({ phase: 'Running' });
    expect(after.initContainerStatuses?.every(({ ready }) => ready)).toBe(true);
    expect(types(after)).toMatchObject({ Initialized: 'True', Ready: 'True' });
  });

  it('fails when an init container fails and may not restart', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', {
      restartPolicy: 'Never',
      initContainers: [{ name: 'i', image: 'init:1' }] as never,
      annotations: { 'exit-code.i': '4' },
    });
    await bench.clock.advance(1000);
    expect(await bench.status('p')).toMatchObject({ phase: 'Failed', initContainerStatuses: [{ state: { terminated: { exitCode: 4 } } }] });
  });

  it('has sidecars that start before and end after its containers', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', {
      restartPolicy: 'Never',
      initContainers: [{ name: 'side', image: 'side:1', restartPolicy: 'Always' }] as never,
      annotations: { 'run-time.c': '30s' },
    });
    expect(await bench.status('p')).toMatchObject({ phase: 'Running', initContainerStatuses: [{ ready: true, started: true }] });
    await bench.clock.advance(30_000);
    const status = await bench.status('p');
    expect(status).toMatchObject({ phase: 'Succeeded', initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }] });
    expect((await bench.runtime.listContainers()).every(({ state }) => state === 'exited')).toBe(true);
  });

  it('becomes ready, unready and ready by its readiness probe', async () => {
    await using bench = await openNodeBench();
    const readinessProbe = { httpGet: { port: 80, path: '/' }, periodSeconds: 5, failureThreshold: 2 };
    await bench.create('p', {
      containers: [{ name: 'c', image: 'app:1', readinessProbe }] as never,
      annotations: { 'readiness-probe': 'fail,pass@10s,fail@60s,pass@120s', 'probe-output': 'HTTP probe failed with statuscode: 500' },
    });
    const ready = async () => (await bench.container('p')).ready;
    expect(await ready()).toBe(false);
    await bench.clock.advance(11_000);
    expect(await ready()).toBe(true);
    await bench.clock.advance(56_000);
    expect(await ready()).toBe(false);
    await bench.clock.advance(60_000);
    expect(await ready()).toBe(true);
    expect((await bench.container('p')).restartCount).toBe(0);
    expect(await bench.events('p')).toContain('Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 500');
    expect(bench.clock.pendingTimers).toBeLessThan(6);
  });

  it('is restarted by its liveness probe', async () => {
    await using bench = await openNodeBench();
    const livenessProbe = { exec: { command: ['x'] }, periodSeconds: 10, failureThreshold: 3 };
    await bench.create('p', {
      containers: [{ name: 'c', image: 'app:1', livenessProbe }] as never,
      annotations: { 'liveness-probe': 'pass,fail@60s' },
    });
    await bench.clock.advance(59_000);
    expect((await bench.container('p')).restartCount).toBe(0);
    await bench.clock.advance(30_000);
    expect(await bench.container('p')).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(await bench.events('p')).toContain('Killing: Container c failed liveness probe, will be restarted');
  });

  it('waits longer and longer when its liveness probe ends it again and again', async () => {
    await using bench = await openNodeBench();
    const livenessProbe = { exec: { command: ['x'] }, periodSeconds: 1, failureThreshold: 1 };
    await bench.create('p', {
      containers: [{ name: 'c', image: 'app:1', livenessProbe }] as never,
      annotations: { 'liveness-probe': 'fail' },
      terminationGracePeriodSeconds: 0,
    });
    await bench.clock.advance(60_000);
    const { restartCount } = await bench.container('p');
    expect(restartCount).toBeGreaterThan(1);
    expect(restartCount).toBeLessThan(6);
    expect(await bench.events('p')).toContainEqual(expect.stringContaining('BackOff: Back-off restarting failed container c'));
  });

  it('is not probed for readiness before its startup probe has passed', async () => {
    await using bench = await openNodeBench();
    const probe = { exec: { command: ['x'] }, periodSeconds: 1 };
    await bench.create('p', {
      containers: [{ name: 'c', image: 'app:1', startupProbe: { ...probe, failureThreshold: 30 }, readinessProbe: probe }] as never,
      annotations: { 'startup-probe': 'fail,pass@20s' },
    });
    expect(await bench.container('p')).toMatchObject({ started: false, ready: false });
    await bench.clock.advance(21_000);
    expect(await bench.container('p')).toMatchObject({ started: true, ready: true, restartCount: 0 });
  });

  it('fails when it is active for longer than its deadline', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { activeDeadlineSeconds: 30 });
    await bench.clock.advance(29_000);
    expect((await bench.status('p')).phase).toBe('Running');
    await bench.clock.advance(2000);
    const message = 'Pod was active on the node longer than the specified deadline';
    expect(await bench.status('p')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message });
    expect((await bench.runtime.listContainers()).every(({ state }) => state === 'exited')).toBe(true);
  });

  it('has references to variables expanded in command and args', async () => {
    await using bench = await openNodeBench();
    const created = vi.spyOn(bench.runtime, 'createContainer');
    const env = [
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'URL', value: 'http://$(NODE)' },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
    ];
    const texts = { command: ['connect', '$(URL):$(CPU)'], args: ['$(CPU)', '$$(CPU)', '$(NONE)'] };
    await bench.create('p', { containers: [{ name: 'c', image: 'app:1', env, resources: { limits: { cpu: '250m' } }, ...texts }] });
    const configs = created.mock.calls.map(([, { config }]) => ({ command: config.command, args: config.args }));
    expect(configs).toEqual([{ command: ['connect', 'http://n1:250'], args: ['250', '$(CPU)', '$(NONE)'] }]);
  });

  it('whose configuration is missing says so, and starts when it is there', async () => {
    await using bench = await openNodeBench();
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } }];
    await bench.create('p', { containers: [{ name: 'c', image: 'app:1', env }] as never });
    expect((await bench.container('p')).state?.waiting).toEqual({
      ...{ reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' },
    });
    await bench.client.of(core.ConfigMap).create({ metadata: { name: 'settings', namespace: 'default' }, data: { a: '1' } });
    await bench.clock.advance(20_000);
    expect((await bench.container('p')).state?.running).toBeDefined();
  });
});

describe('a node', () => {
  it('refuses pods that it has no room for or that do not belong', async () => {
    await using bench = await openNodeBench({ maxPods: 2 });
    await bench.create('a', { nodeSelector: { zone: 'x' } });
    await bench.create('b', { containers: [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '64' } } }] as never });
    await bench.create('c');
    await bench.create('d');
    await bench.create('e');
    expect(await bench.status('a')).toMatchObject({
      phase: 'Failed',
      reason: 'NodeAffinity',
      message: "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    });
    const message = "Pod was rejected: Node didn't have enough resource: cpu, requested: 64000, used: 0, capacity: 8000";
    expect(await bench.status('b')).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu', message });
    expect(await bench.status('e')).toMatchObject({ phase: 'Failed', reason: 'OutOfpods' });
    expect((await bench.status('d')).phase).toBe('Running');
  });

  it('renews its lease every ten seconds and its status every five minutes', async () => {
    await using bench = await openNodeBench();
    const read = async () => {
      const lease = await bench.client.of(coordination.Lease).get({ name: 'n1', namespace: 'kube-node-lease' });
      const node = await bench.client.of(core.Node).get({ name: 'n1' });
      return { renewed: Date.parse(lease.spec?.renewTime ?? ''), beat: node.status?.conditions?.[0]?.lastHeartbeatTime, lease };
    };
    await bench.clock.settle();
    const first = await read();
    expect(first.lease).toMatchObject({ spec: { holderIdentity: 'n1', leaseDurationSeconds: 40 } });
    expect(first.lease.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Node', name: 'n1' });
    await bench.clock.advance(100_000);
    const second = await read();
    expect(bench.clock.now() - second.renewed).toBeLessThan(11_000);
    expect(second.beat).toBe(first.beat);
    await bench.clock.advance(201_000);
    expect((await read()).beat).not.toBe(first.beat);
  });

  it('reports what it runs short of', async () => {
    await using bench = await openNodeBench();
    bench.kubelet.setPressure({ memory: true });
    await bench.clock.settle();
    const node = await bench.client.of(core.Node).get({ name: 'n1' });
    expect(node.status?.conditions?.find(({ type }) => type === 'MemoryPressure')).toMatchObject({
      ...{ status: 'True', reason: 'KubeletHasInsufficientMemory' },
    });
  });

  it('that crashed and comes back runs its pods again, and counts that as a restart', async () => {
    await using bench = await openNodeBench();
    await bench.create('p');
    const { containerID } = await bench.container('p');
    await bench.kubelet.crash();
    await bench.clock.advance(120_000);
    expect((await bench.status('p')).phase).toBe('Running');
    await bench.kubelet.recover();
    await bench.clock.settle();
    const container = await bench.container('p');
    expect(container).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(container.containerID).not.toBe(containerID);
  });

  it('that was cut off catches up with what changed meanwhile', async () => {
    await using bench = await openNodeBench();
    await bench.create('kept');
    await bench.create('gone');
    bench.kubelet.partition();
    await bench.delete('gone', 0);
    await bench.create('new');
    await bench.clock.advance(60_000);
    expect((await bench.status('new')).phase).toBe('Pending');
    await bench.kubelet.recover();
    await bench.clock.advance(120_000);
    expect((await bench.status('new')).phase).toBe('Running');
    expect((await bench.runtime.listPodSandbox()).map(({ metadata }) => metadata.name).toSorted()).toEqual(['kept', 'new']);
    expect((await bench.container('kept')).restartCount).toBe(0);
  });

  it('whose kubelet restarts leaves pods as they are', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'run-time': '10m' } });
    const before = await bench.container('p');
    await bench.kubelet.restart();
    await bench.clock.advance(5000);
    expect(await bench.container('p')).toEqual(before);
    expect(await bench.runtime.listContainers()).toHaveLength(1);
  });
});

describe('a process that starts again', () => {
  it('finds the containers that the API shows as running, which run on to their end', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'run-time': '10m' }, restartPolicy: 'Never' });
    await bench.clock.advance(240_000);
    const before = await bench.status('p');
    await bench.kubelet[Symbol.asyncDispose]();
    await using _again = await bench.boot();
    await bench.clock.advance(300_000);
    expect(await bench.status('p')).toEqual(before);
    await bench.clock.advance(60_000);
    expect((await bench.status('p')).phase).toBe('Succeeded');
  });
});

describe('logs', () => {
  async function read(bench: Awaited<ReturnType<typeof openNodeBench>>, query: string, container = 'c') {
    const answer = await bench.kubelet.handle({
      ...{ method: 'GET', path: `/containerLogs/default/p/${container}`, query: new URLSearchParams(query) },
    });
    if ('serve' in answer) throw new Error('the kubelet left HTTP');
    let text = '';
    for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
    return { code: answer.code, text };
  }

  it('show lines by tail, time, limit and run', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { logs: 'one\n@5s two\n@10s three', 'run-time': '11s', 'exit-code': '1,0' } });
    await bench.clock.advance(10_000);
    expect(await read(bench, '')).toEqual({ code: 200, text: 'one\ntwo\nthree\n' });
    expect((await read(bench, 'tailLines=1')).text).toBe('three\n');
    expect((await read(bench, 'sinceSeconds=6')).text).toBe('two\nthree\n');
    expect((await read(bench, 'limitBytes=5')).text).toBe('one\nt');
    expect((await read(bench, 'timestamps=true&tailLines=1')).text).toMatch(/^2026-01-01T00:00:1\d\.\d{9}Z three\n$/);
    expect(await read(bench, 'previous=true')).toEqual({ code: 400, text: 'previous terminated container "c" in pod "p" not found' });
    await bench.clock.advance(2000);
    expect((await read(bench, '')).text).toBe('one\n');
    expect((await read(bench, 'previous=true')).text).toBe('one\ntwo\nthree\n');
  });

  it('say why there are none', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'pull-time': '1h' } });
    const waiting = 'container "c" in pod "p" is waiting to start: ContainerCreating';
    expect(await read(bench, '')).toEqual({ code: 400, text: waiting });
    expect((await read(bench, '', 'x')).code).toBe(404);
    expect((await read(bench, 'tailLines=-1')).code).toBe(422);
  });
});
