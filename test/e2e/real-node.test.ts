import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of real nodes are skipped: ${reason}`);

const POLL = { timeout: 60_000, interval: 250 };

describe.skipIf(reason !== undefined)('a cluster whose node is this machine', () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start('--node-name', 'machine', '--nodes', '1');
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  const phaseOf = (pod: string) => node.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.phase}');
  const containerOf = async (pod: string) =>
    JSON.parse(await node.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.containerStatuses[0]}')) as {
      containerID: string;
      restartCount: number;
    };

  /** Simulated nodes accept pods too: pods for the real node select it. */
  const pod = (name: string, command: string) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  nodeName: machine
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - { name: main, image: 'busybox:1', command: [sh, -c, '${command}'] }
`;

  test('says where its containers come from, and lists both nodes', async () => {
    expect((await node.sampan('status')).stdout).toContain('Containers: containerd of its own');
    expect(await node.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).toBe('machine node-1');
    const version = await node.kubectl('get', 'node', 'machine', '-o', 'jsonpath={.status.nodeInfo.containerRuntimeVersion}');
    expect(version).toMatch(/^containerd:\/\//);
  });

  test('serves the API of its kubelet where the node says, to callers with the right to it', async () => {
    const jsonpath = (of: string) => node.kubectl('get', 'node', 'machine', '-o', `jsonpath={${of}}`);
    const port = await jsonpath('.status.daemonEndpoints.kubeletEndpoint.Port');
    const url = `https://${await jsonpath('.status.addresses[0].address')}:${port}/metrics/resource`;
    writeFileSync(node.at.path('cluster-ca.crt'), await node.kubectl('get', 'cm', 'kube-root-ca.crt', '-o', 'jsonpath={.data.ca\\.crt}'));
    const curl = (...args: string[]) => node.run('curl', ['-s', '--cacert', 'cluster-ca.crt', '-w', '%{http_code}', url, ...args]);
    expect((await curl()).stdout).toBe('Unauthorized401');
    await node.kubectl('create', 'serviceaccount', 'monitor');
    await node.kubectl('create', 'clusterrole', 'monitor', '--verb=get', '--resource=nodes/metrics');
    await node.kubectl('create', 'clusterrolebinding', 'monitor', '--clusterrole=monitor', '--serviceaccount=default:monitor');
    const curlAs = async (account: string) => curl('-H', `Authorization: Bearer ${await node.kubectl('create', 'token', account)}`);
    expect((await curlAs('default')).stdout).toMatch(/^Forbidden .*403$/s);
    expect((await curlAs('monitor')).stdout).toMatch(/node_cpu_usage_seconds_total .*200$/s);
  });

  test('runs a pod to its end, with its log', async () => {
    await node.apply(pod('short', 'echo hello from $(hostname)'));
    await expect.poll(() => phaseOf('short'), POLL).toBe('Succeeded');
    expect(await node.kubectl('logs', 'short')).toBe('hello from short');
  });

  test('keeps pods running while it is killed, and takes them over as they are', async () => {
    await node.apply(pod('lasting', 'sleep 100000'));
    await expect.poll(() => phaseOf('lasting'), POLL).toBe('Running');
    const before = await containerOf('lasting');
    process.kill(await node.pid(), 'SIGKILL');
    await node.up('--node-name', 'machine', '--nodes', '1');
    expect(await phaseOf('lasting')).toBe('Running');
    expect(await containerOf('lasting')).toMatchObject({ containerID: before.containerID, restartCount: before.restartCount });
  });

  test('goes on when containerd is killed, with its containers untouched', async () => {
    const before = await containerOf('lasting');
    process.kill(node.containerd().pid, 'SIGKILL');
    await node.apply(pod('after', 'echo again'));
    await expect.poll(() => phaseOf('after'), POLL).toBe('Succeeded');
    expect(await containerOf('lasting')).toMatchObject({ containerID: before.containerID, restartCount: before.restartCount });
  });

  test('says that containerd hangs, leaves its containers alone, and goes on when it answers again', { timeout: 180_000 }, async () => {
    const ready = (part: string) =>
      node.kubectl('get', 'node', 'machine', '-o', `jsonpath={.status.conditions[?(@.type=="Ready")].${part}}`);
    const before = await containerOf('lasting');
    const { pid } = node.containerd();
    process.kill(pid, 'SIGSTOP');
    try {
      await node.apply(pod('meanwhile', 'echo at last'));
      await expect.poll(() => ready('status'), { timeout: 120_000, interval: 1000 }).toBe('False');
      expect([await ready('reason'), await ready('message')]).toEqual(['KubeletNotReady', 'container runtime is down']);
      expect(await phaseOf('meanwhile')).toBe('Pending');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await expect.poll(() => ready('status'), POLL).toBe('True');
    await expect.poll(() => phaseOf('meanwhile'), POLL).toBe('Succeeded');
    expect(await containerOf('lasting')).toMatchObject({ containerID: before.containerID, restartCount: before.restartCount });
  });

  test('starts what should run after a reboot of the machine, and nothing else', { timeout: 180_000 }, async () => {
    await node.apply(`
apiVersion: v1
kind: Pod
metadata: { name: always }
spec:
  nodeName: machine
  initContainers: [{ name: first, image: 'busybox:1', command: ['true'] }]
  containers: [{ name: main, image: 'busybox:1', command: [sleep, '100000'] }]
`);
    await expect.poll(() => phaseOf('always'), POLL).toBe('Running');
    await node.loseEverything();
    await node.up('--node-name', 'machine', '--nodes', '1');

    const terminatedByReboot = { terminated: { exitCode: 255, reason: 'Unknown' } };
    await expect
      .poll(() => containerOf('always'), POLL)
      .toMatchObject({ restartCount: 1, state: { running: {} }, lastState: terminatedByReboot });
    await expect.poll(() => phaseOf('lasting'), POLL).toBe('Failed');
    expect(await containerOf('lasting')).toMatchObject({ restartCount: 0, state: terminatedByReboot });
    expect(await containerOf('short')).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } });
    const event = () => node.kubectl('get', 'events', '--field-selector=reason=Rebooted', '-o', 'jsonpath={.items[*].message}');
    const bootId = (await node.run('cat', ['/proc/sys/kernel/random/boot_id'])).stdout.trim();
    await expect.poll(event, POLL).toBe(`Node machine has been rebooted, boot id: ${bootId}`);
  });

  test('lists, removes and loads images, and says what is no archive', async () => {
    expect((await node.sampan('image', 'list')).stdout).toContain('docker.io/library/busybox:1');
    await node.loadBusybox('example.com/one:1', 'two');
    expect((await node.sampan('image', 'list')).stdout).toContain('docker.io/library/two:latest');
    expect(await node.sampan('image', 'remove', 'example.com/none:1')).toMatchObject({
      code: 1,
      stderr: 'error: there is no image example.com/none:1 on the node\n',
    });
    const broken = await node.run(process.execPath, [path.resolve('dist/sampan.js'), 'image', 'load', '-'], 'no archive'.repeat(100));
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain('cannot load standard input: not an archive of images');
    expect((await node.sampan('image', 'load', 'missing.tar')).stderr).toBe('error: cannot read missing.tar (ENOENT)\n');
  });

  test('leaves no process, mount, cgroup or socket when it is stopped and deleted', async () => {
    const { stderr, code } = await node.sampan('down');
    expect({ stderr, code }).toMatchObject({ code: 0 });
    const processes = (await node.run('ps', ['-eo', 'args'])).stdout;
    expect(processes).not.toContain(node.dataDirectory);
    const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8');
    expect(mounts()).not.toContain(node.dataDirectory);
    await node.sampan('delete', '--yes');
    expect(existsSync(node.dataDirectory)).toBe(false);
    expect((await node.run('cat', ['/proc/self/mountinfo'])).stdout).not.toContain(node.dataDirectory);
    expect((await node.run('ip', ['-br', 'link'])).stdout).not.toContain('sampan');
  });
});

describe.skipIf(reason !== undefined)('a cluster whose data directory was deleted while it ran', () => {
  test('stops when it is told to, and does not create the directory again', async () => {
    await using node = await RealNode.start();
    const pid = await node.pid();
    await node.run('rm', ['-rf', node.dataDirectory]);
    process.kill(pid, 'SIGTERM');
    await expect.poll(() => existsSync(`/proc/${pid}`), POLL).toBe(false);
    expect(existsSync(path.join(node.dataDirectory, 'cluster.json'))).toBe(false);
  });
});
