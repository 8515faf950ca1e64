import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

// Requirements of the [sig-node] conformance tests that no recording covers (docs/conformance-node.md), on one real node.

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of real nodes are skipped: ${reason}`);

const POLL = { timeout: 60_000, interval: 250 };
const IMAGE = 'busybox:1';
const MEMORY_LIMIT = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';

/** Resources by container name. */
type Sizes = Readonly<Record<string, object>>;

/** Implements just enough HTTP/2 to answer every health check with SERVING: settings, then headers, the message and trailers. */
const GRPC_HEALTH_SERVER = String.raw`cat > /tmp/serve <<'END'
#!/bin/sh
printf '\000\000\000\004\000\000\000\000\000\000\000\000\004\001\000\000\000\000'
exec 3<&0
cat <&3 >/dev/null &
sleep 0.5
printf '\000\000\040\001\004\000\000\000\001\210\000\014content-type\020application/grpc'
printf '\000\000\007\000\000\000\000\000\001\000\000\000\000\002\010\001'
printf '\000\000\017\001\005\000\000\000\001\000\013grpc-status\001\060'
wait
END
chmod +x /tmp/serve; exec nc -ll -p 8080 -e /tmp/serve`;

interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly podIP?: string;
  readonly resources?: object;
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly lastTransitionTime: string }[];
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly restartCount: number;
    readonly resources?: object;
    readonly state: {
      readonly running?: { readonly startedAt: string };
      readonly waiting?: { readonly reason: string; readonly message?: string };
      readonly terminated?: { readonly message?: string };
    };
  }[];
}
interface PodObject {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly overhead?: object; readonly containers: readonly object[] };
  readonly status: PodStatus;
}

describe.skipIf(reason !== undefined)('a real node does what conformance tests ask for:', { timeout: 120_000 }, () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start('--node-name', 'machine');
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  const object = async (name: string) => JSON.parse(await node.kubectl('get', 'pod', name, '-o', 'json')) as PodObject;
  const statusOf = async (name: string) => (await object(name)).status;
  const phaseOf = async (name: string) => (await statusOf(name)).phase;
  const restartsOf = async (name: string) => (await statusOf(name)).containerStatuses?.[0]?.restartCount;
  const container = (script: string, overrides: object = {}) => ({ name: 'c', image: IMAGE, command: ['sh', '-c', script], ...overrides });

  async function create(name: string, spec: object): Promise<void> {
    const defaults = { restartPolicy: 'Never', terminationGracePeriodSeconds: 1 };
    await node.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { ...defaults, ...spec } }));
  }

  async function run(name: string, spec: object): Promise<PodStatus> {
    await create(name, spec);
    await expect.poll(() => phaseOf(name), POLL).toBe('Running');
    return statusOf(name);
  }

  /** The log of a pod that succeeded. */
  async function outputOf(name: string, spec: object): Promise<string> {
    await create(name, spec);
    await expect.poll(() => phaseOf(name), POLL).toBe('Succeeded');
    return node.kubectl('logs', name);
  }

  const resizeTo = (name: string, sizes: Sizes) =>
    node.kubectl('patch', 'pod', name, '--subresource=resize', '-p', JSON.stringify(containersPatch(sizes)));
  const containersPatch = (sizes: Sizes) => ({
    spec: { containers: Object.entries(sizes).map(([name, resources]) => ({ name, resources })) },
  });
  const sizesOf = async (name: string) =>
    Object.fromEntries(((await statusOf(name)).containerStatuses ?? []).map((status) => [status.name, status.resources]));

  test('hooks over http reach another pod', async () => {
    const { podIP } = await run('target', {
      containers: [container('mkdir /w; echo ok > /w/start; echo ok > /w/stop; httpd -f -v -p 8080 -h /w')],
    });
    const hook = (path: string) => ({ httpGet: { host: podIP, port: 8080, path } });
    const lifecycle = { postStart: hook('/start'), preStop: hook('/stop') };
    await run('hooked', { containers: [container('sleep 1000', { lifecycle })] });
    await node.kubectl('delete', 'pod', 'hooked');
    // httpd -v logs each request and its response: one line for each hook.
    await expect.poll(async () => (await node.kubectl('logs', 'target')).match(/response:200/g)?.length, POLL).toBe(2);
  });

  test('a user that is not root leaves a termination message at a path of its own', async () => {
    const containerFields = { terminationMessagePath: '/dev/termination-custom-log', securityContext: { runAsUser: 1000 } };
    await outputOf('message', { containers: [container('echo -n DONE > /dev/termination-custom-log', containerFields)] });
    expect((await statusOf('message')).containerStatuses?.[0]?.state.terminated?.message).toBe('DONE');
  });

  test('the command of the image runs where the pod names none', async () => {
    // The image's command is a shell, which reads its input to the end.
    await run('defaults', { containers: [{ name: 'c', image: IMAGE, stdin: true }] });
    expect(await node.kubectl('exec', 'defaults', '--', 'cat', '/proc/1/cmdline')).toBe('sh\0');
  });

  test('host aliases are in /etc/hosts, and users have the id that the pod names', async () => {
    const spec = {
      hostAliases: [{ ip: '123.45.67.89', hostnames: ['foo', 'bar'] }],
      containers: [container('cat /etc/hosts; id -u', { securityContext: { runAsUser: 65534 } })],
    };
    const output = await outputOf('aliases', spec);
    expect(output).toContain('123.45.67.89\tfoo\tbar');
    expect(output.split('\n').at(-1)).toBe('65534');
  });

  test('an active deadline that is set while the pod runs ends it', async () => {
    await run('deadline', { containers: [container('sleep 1000')] });
    await node.kubectl('patch', 'pod', 'deadline', '-p', '{"spec":{"activeDeadlineSeconds":1}}');
    await expect.poll(() => statusOf('deadline'), POLL).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  test('liveness over http and tcp leaves well containers alone, and restarts those that answer with an error', async () => {
    const probe = { periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 2 };
    const server = 'mkdir /w; echo ok > /w/healthz; httpd -f -p 8080 -h /w';
    const http = { httpGet: { path: '/healthz', port: 8080 } };
    const restartPolicy = 'Always';
    await create('alive-http', { restartPolicy, containers: [container(server, { livenessProbe: { ...probe, ...http } })] });
    await create('alive-tcp', {
      restartPolicy,
      containers: [container(server, { livenessProbe: { ...probe, tcpSocket: { port: 8080 } } })],
    });
    await create('sick-http', {
      restartPolicy,
      containers: [container(`(sleep 4; rm /w/healthz) & ${server}`, { livenessProbe: { ...probe, ...http } })],
    });
    await expect.poll(() => restartsOf('sick-http'), POLL).toBe(1);
    for (const name of ['alive-http', 'alive-tcp']) expect(await restartsOf(name)).toBe(0);
  });

  test('liveness over grpc leaves a container alone that serves, and restarts one where nobody listens', async () => {
    const probe = { periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 2, timeoutSeconds: 3 };
    const withProbe = (port: number) => ({
      restartPolicy: 'Always',
      containers: [container(GRPC_HEALTH_SERVER, { livenessProbe: { ...probe, grpc: { port } } })],
    });
    await create('alive-grpc', withProbe(8080));
    await create('sick-grpc', withProbe(8081));
    await expect.poll(() => restartsOf('sick-grpc'), POLL).toBe(1);
    expect(await restartsOf('alive-grpc')).toBe(0);
    const unhealthy = async (name: string) => {
      const selector = `--field-selector=involvedObject.name=${name},reason=Unhealthy`;
      return node.kubectl('get', 'events', selector, '-o', 'jsonpath={.items[*].message}');
    };
    const { podIP } = await statusOf('sick-grpc');
    expect([await unhealthy('alive-grpc'), await unhealthy('sick-grpc')]).toEqual([
      '',
      `Liveness probe failed: timeout: failed to connect service "${podIP}:8081" within 3s: context deadline exceeded`,
    ]);
  });

  test('a subPath that could not be expanded is used once an annotation gives it a value', async () => {
    const env = [{ name: 'DIRECTORY', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['directory']" } } }];
    const volumeMounts = [
      { name: 'v', mountPath: '/part', subPathExpr: '$(DIRECTORY)' },
      { name: 'v', mountPath: '/whole' },
    ];
    await create('mended', {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [container('touch /part/test.log; ls /whole; sleep 1000', { env, volumeMounts })],
    });
    const waiting = async () => (await statusOf('mended')).containerStatuses?.[0]?.state.waiting;
    await expect.poll(waiting, POLL).toEqual({ reason: 'CreateContainerConfigError', message: 'missing value for DIRECTORY' });
    await node.kubectl('annotate', 'pod', 'mended', 'directory=inner');
    await expect.poll(() => phaseOf('mended'), POLL).toBe('Running');
    expect(await node.kubectl('logs', 'mended')).toBe('inner');
    expect(await restartsOf('mended')).toBe(0);
  });

  test('a pod is not ready before the delay of its readiness probe', async () => {
    const readinessProbe = { exec: { command: ['true'] }, initialDelaySeconds: 5, periodSeconds: 1 };
    await run('delayed', { containers: [container('sleep 1000', { readinessProbe })] });
    const ready = async () => (await statusOf('delayed')).conditions?.find(({ type }) => type === 'Ready');
    await expect.poll(async () => (await ready())?.status, POLL).toBe('True');
    const { startedAt } = (await statusOf('delayed')).containerStatuses![0]!.state.running!;
    expect(Date.parse((await ready())!.lastTransitionTime) - Date.parse(startedAt)).toBeGreaterThanOrEqual(4000);
    expect(await restartsOf('delayed')).toBe(0);
  });

  test('a runtime class gives pods its overhead, or none', async () => {
    const overhead = { podFixed: { cpu: '10m', memory: '1Mi' } };
    const runtimeClass = (name: string, overrides: object) =>
      JSON.stringify({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'runc', ...overrides });
    await node.apply(runtimeClass('heavy', { overhead }));
    await node.apply(runtimeClass('light', {}));
    await outputOf('with-overhead', { runtimeClassName: 'heavy', containers: [container('true')] });
    expect((await object('with-overhead')).spec.overhead).toEqual(overhead.podFixed);
    await outputOf('without-overhead', { runtimeClassName: 'light', containers: [container('true')] });
    expect((await object('without-overhead')).spec.overhead).toBeUndefined();
  });

  test('variables are expanded in a subPath, which must not lead upwards', async () => {
    const mounts = [
      { name: 'v', mountPath: '/part', subPathExpr: '$(DIRECTORY)' },
      { name: 'v', mountPath: '/whole' },
    ];
    const pod = (value: string) => ({
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [container('touch /part/test.log; ls /whole/*', { env: [{ name: 'DIRECTORY', value }], volumeMounts: mounts })],
    });
    expect(await outputOf('sub-path', pod('inner'))).toBe('test.log');
    await create('upwards', pod('..'));
    const waiting = async () => (await statusOf('upwards')).containerStatuses?.[0]?.state.waiting;
    await expect
      .poll(waiting, POLL)
      .toMatchObject({ reason: 'CreateContainerConfigError', message: expect.stringContaining('must not contain') });
  });

  /** The enforced limit, in bytes. */
  const memoryLimitOf = (name: string, containerName: string) =>
    node.kubectl('exec', name, '-c', containerName, '--', 'sh', '-c', MEMORY_LIMIT);

  async function resized(name: string, from: Sizes, to: Sizes): Promise<void> {
    const containers = Object.entries(from).map(([own, resources]) => container('sleep 1000', { name: own, resources }));
    await run(name, { containers });
    await resizeTo(name, to);
    await expect.poll(() => sizesOf(name), POLL).toEqual({ ...from, ...to });
    const { metadata, status } = await object(name);
    expect(status.observedGeneration).toBe(metadata.generation);
    expect(status.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual(Object.keys(from).map(() => 0));
    expect(status.conditions?.filter(({ type }) => type.startsWith('PodResize'))).toEqual([]);
  }

  const size = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
  const even = { c1: size('100m', '64Mi'), c2: size('100m', '64Mi'), c3: size('100m', '64Mi') };

  test.each([
    ['a net increase', { c1: size('150m', '80Mi'), c2: size('150m', '80Mi'), c3: size('50m', '48Mi') }, '48Mi'],
    ['a net decrease', { c1: size('120m', '72Mi'), c2: size('60m', '48Mi'), c3: size('50m', '40Mi') }, '40Mi'],
    ['both at once', { c1: size('150m', '64Mi'), c2: size('60m', '80Mi'), c3: size('120m', '96Mi') }, '96Mi'],
  ])('three guaranteed containers are resized together: %s', async (what, to, memory) => {
    const name = `guaranteed-${what.replaceAll(' ', '-')}`;
    await resized(name, even, to);
    expect(await memoryLimitOf(name, 'c3')).toBe(String(Number.parseInt(memory, 10) * 1024 * 1024));
  });

  test('six burstable containers are resized together, and given requests and limits that they had not', async () => {
    const cpu = (request: string, limit?: string) => ({ requests: { cpu: request }, ...(limit && { limits: { cpu: limit } }) });
    const memory = (request: string, limit?: string) => ({ requests: { memory: request }, ...(limit && { limits: { memory: limit } }) });
    const from = { c1: cpu('20m', '60m'), c2: memory('32Mi', '64Mi'), c3: cpu('20m'), c4: memory('32Mi'), c5: size('20m', '32Mi'), c6: {} };
    const both = { requests: { cpu: '10m', memory: '24Mi' }, limits: { cpu: '50m', memory: '56Mi' } };
    const to = { c1: cpu('30m', '50m'), c2: memory('40Mi', '56Mi'), c3: cpu('30m', '90m'), c4: memory('32Mi', '72Mi'), c5: both, c6: both };
    await resized('burstable', from, to);
    expect(await memoryLimitOf('burstable', 'c4')).toBe(String(72 * 1024 * 1024));
    expect(await memoryLimitOf('burstable', 'c6')).toBe(String(56 * 1024 * 1024));
  });

  test('a resize to values that the kernel cannot tell apart is shown as it was asked for', async () => {
    const cpu = (request: string, limit: string) => ({ requests: { cpu: request }, limits: { cpu: limit } });
    await resized('equivalents', { c1: cpu('2m', '10m') }, { c1: cpu('1m', '5m') });
  });

  test('the resources of a whole pod are resized, and with them the limits of containers that have none of their own', async () => {
    await run('whole', { resources: size('100m', '64Mi'), containers: [container('sleep 1000')] });
    const patch = JSON.stringify({ spec: { resources: size('150m', '96Mi') } });
    await node.kubectl('patch', 'pod', 'whole', '--subresource=resize', '-p', patch);
    await expect.poll(async () => (await statusOf('whole')).resources, POLL).toEqual(size('150m', '96Mi'));
    await expect.poll(() => memoryLimitOf('whole', 'c'), POLL).toBe(String(96 * 1024 * 1024));
    expect(await restartsOf('whole')).toBe(0);
  });

  test('a pod is resized by replacing it, and the subresource shows all of it', async () => {
    await run('replaced', { containers: Object.entries(even).map(([name, resources]) => container('sleep 1000', { name, resources })) });
    const current = await object('replaced');
    const replaced = {
      ...current,
      spec: { ...current.spec, containers: current.spec.containers.map((container) => ({ ...container, resources: size('60m', '50Mi') })) },
    };
    const outcome = await node.run('kubectl', ['replace', '--subresource=resize', '-f', '-'], JSON.stringify(replaced));
    expect(outcome.stderr).toBe('');
    const sizes = Object.fromEntries(Object.keys(even).map((name) => [name, size('60m', '50Mi')]));
    await expect.poll(() => sizesOf('replaced'), POLL).toEqual(sizes);
    const resizeOutput = await node.kubectl('get', 'pod', 'replaced', '--subresource=resize', '-o', 'json');
    expect(JSON.parse(resizeOutput)).toEqual(await object('replaced'));
  });

  // Last, since it ends everything that still runs.
  test('a NoExecute taint ends pods when their toleration does, and not when it is taken away before', async () => {
    const tolerating = (tolerationSeconds: number) => ({
      tolerations: [{ key: 'e2e', operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
      containers: [container('sleep 1000')],
    });
    await run('soon', tolerating(1));
    await run('late', tolerating(1000));
    await node.kubectl('taint', 'node', 'machine', 'e2e=evict:NoExecute');
    await expect.poll(() => node.kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'), POLL).toBe('late');
    await node.kubectl('taint', 'node', 'machine', 'e2e:NoExecute-');
    expect(await phaseOf('late')).toBe('Running');
  });
});
