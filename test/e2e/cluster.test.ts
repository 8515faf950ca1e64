import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock, systemRandom } from '#base';
import { createPki } from '#cluster';
import { freePort } from '../../src/store/contract/free-port.ts';
import { Workplace } from './sampan-process.ts';

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: 'web:1', ports: [{ containerPort: 80 }] }] }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
`;

describe('a cluster in the background', () => {
  let at: Workplace;
  let port: number;

  beforeAll(async () => {
    at = new Workplace();
    port = await freePort();
    const { code, stderr, stdout } = await at.sampan('up', '--runtime', 'simulated', '-d', '--port', String(port), '--nodes', '2');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`is ready at https://127.0.0.1:${port}: 2 nodes`);
  });

  afterAll(async () => {
    await at.sampan('delete', '--yes');
    await at[Symbol.asyncDispose]();
  });

  const images = () => at.kubectl('get', 'deployment/web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}');
  const rolledOut = () => at.kubectl('rollout', 'status', 'deployment/web', '--timeout=20s');

  test('is ready for pods when up returns', async () => {
    expect(await at.kubectl('get', 'nodes', '--no-headers', '-o', 'custom-columns=:.status.conditions[?(@.type=="Ready")].status')).toBe(
      'True\nTrue',
    );
    expect(await at.kubectl('get', 'serviceaccount', 'default', '-o', 'name')).toBe('serviceaccount/default');
  });

  test('runs a deployment behind a service, scales it, updates it and rolls it back', async () => {
    expect(await at.apply(WEB)).toMatchObject({ code: 0 });
    await rolledOut();
    await at.kubectl('scale', 'deployment/web', '--replicas=4');
    await rolledOut();
    await expect
      .poll(() => at.kubectl('get', 'endpointslices', '-o', 'jsonpath={.items[*].endpoints[*].conditions.ready}'))
      .toContain('true true true true');
    await at.kubectl('set', 'image', 'deployment/web', 'web=web:2');
    await rolledOut();
    expect(await images()).toBe('web:2');
    await at.kubectl('rollout', 'undo', 'deployment/web');
    await rolledOut();
    expect(await images()).toBe('web:1');
  });

  test('shows the logs of a simulated pod', async () => {
    expect(await at.kubectl('logs', 'deployment/web')).toContain('simulated container web of image web:1 started');
  });

  test('shows what each of its components wrote', async () => {
    expect((await at.sampan('logs', 'scheduler')).stdout).toMatch(/^\d{4}-.*Z INFO {2}scheduler: is ready\n/);
    expect((await at.sampan('logs', 'kubelet')).stdout).toContain('kubelet: nodes are ready count=2');
    expect((await at.sampan('logs', '--tail', '1')).stdout.trim().split('\n')).toHaveLength(1);
    expect(await at.sampan('logs', 'etcd')).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no component 'etcd'") });
  });

  test('is not started twice', async () => {
    const { code, stderr } = await at.sampan('up', '--runtime', 'simulated');
    expect(code).toBe(1);
    expect(stderr).toContain("cluster 'default' runs already");
    expect(stderr).toContain('stop it with: sampan down');
  });

  test('its store is not opened by a second process', async () => {
    const { code, stderr } = await at.sampan(
      'up',
      '--runtime',
      'simulated',
      '--name',
      'other',
      '--data-dir',
      at.path('.local/share/sampan/default'),
      '--no-merge',
    );
    expect(code).toBe(1);
    expect(stderr).toContain('runs already');
  });

  test('finds everything as it was after a restart', async () => {
    const before = await at.kubectl('get', 'deployment,service,replicaset', '-o', 'jsonpath={.items[*].metadata.uid}');
    expect((await at.sampan('down')).code).toBe(0);
    expect(JSON.parse((await at.sampan('status', '-o', 'json')).stdout)).toMatchObject({ running: false });
    const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '-d', '--nodes', '2');
    expect(code, stderr).toBe(0);
    const { running, server } = JSON.parse((await at.sampan('status', '-o', 'json')).stdout);
    expect({ running, server }).toEqual({ running: true, server: `https://127.0.0.1:${port}` });
    expect(await at.kubectl('get', 'deployment,service,replicaset', '-o', 'jsonpath={.items[*].metadata.uid}')).toBe(before);
    await rolledOut();
  });

  test('deletes what is deleted, and what belongs to it', async () => {
    await at.kubectl('delete', 'deployment/web', 'service/web', '--timeout=20s');
    await expect.poll(() => at.kubectl('get', 'pods,replicasets', '-o', 'name'), { timeout: 20_000 }).toBe('');
  });

  test('is forgotten when it is deleted', async () => {
    expect((await at.sampan('delete')).code).toBe(2);
    expect(await at.sampan('delete', '--yes')).toMatchObject({ code: 0, stderr: "Cluster 'default' is gone.\n" });
    expect(await at.kubectl('config', 'get-contexts', '-o', 'name')).toBe('');
    expect(JSON.parse((await at.sampan('status', '-o', 'json')).stdout)).toMatchObject({ running: false });
  });
});

test('a process that has the number of a cluster that died is left alone', async () => {
  await using at = new Workplace();
  const bystander = at.start('bystander', process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const directory = at.path('.local/share/sampan/default');
  mkdirSync(directory, { recursive: true });
  const state = { name: 'default', pid: bystander.pid, process: 'an-earlier-boot/1', server: 'https://127.0.0.1:1', startedAt: '' };
  writeFileSync(`${directory}/cluster.json`, JSON.stringify(state));
  expect(JSON.parse((await at.sampan('status', '-o', 'json')).stdout)).toMatchObject({ running: false });
  expect(await at.sampan('down')).toMatchObject({ code: 0, stderr: "Cluster 'default' does not run.\n" });
  expect(await at.sampan('delete', '--yes')).toMatchObject({ code: 0 });
  expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
});

describe('a start that cannot succeed', () => {
  const failure = async (at: Workplace, args: readonly string[]) => {
    const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '--no-merge', ...args);
    return { code, error: /^error: .*$/m.exec(stderr)?.[0] };
  };

  test.each([
    ['nodez: 3', 'nodez is not a setting; known are name'],
    ['nodes: many', 'nodes must be a whole number from 0 to 10000, but it is the string "many"'],
    ['kubelet: { max-pod: 3 }', "the kubelet has no flag 'max-pod'; did you mean max-pods?"],
  ])('for the configuration %j says what is wrong', async (text, message) => {
    await using at = new Workplace();
    writeFileSync(at.path('config.yaml'), text);
    expect(await failure(at, ['--config', 'config.yaml'])).toEqual({ code: 1, error: expect.stringContaining(`config.yaml: ${message}`) });
  });

  test('says that the port is in use, also in the background', async () => {
    await using at = new Workplace();
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as { port: number };
    const error = `error: port ${port} on 127.0.0.1 is in use; choose another with --port, or leave it out to get a free one`;
    expect(await failure(at, ['--port', String(port)])).toEqual({ code: 1, error });
    expect(await failure(at, ['--port', String(port), '-d'])).toEqual({ code: 1, error });
    blocker.close();
    await once(blocker, 'close');
  });

  test('says that the data directory cannot be written', async () => {
    await using at = new Workplace();
    writeFileSync(at.path('file'), '');
    const error = expect.stringContaining(
      `cannot write to the data directory ${at.path('file/data')} (ENOTDIR: there is a file where a directory is needed); choose another with --data-dir`,
    );
    expect(await failure(at, ['--data-dir', 'file/data'])).toEqual({ code: 1, error });
  });

  test.runIf(process.platform === 'linux').each(['/proc/x', '/sys/x', '/dev/full'])('says that %s is no place for data', async (place) => {
    await using at = new Workplace();
    const error = expect.stringMatching(`cannot write to the data directory ${place} \\(E.*\\); choose another with --data-dir`);
    expect(await failure(at, ['--data-dir', place])).toEqual({ code: 1, error });
    expect(await failure(at, ['--data-dir', place, '-d'])).toEqual({ code: 1, error });
  });

  test('says that there is no such configuration', async () => {
    await using at = new Workplace();
    const error = 'error: cannot read the configuration nowhere.yaml (ENOENT); check the path that --config names';
    expect(await failure(at, ['--config', 'nowhere.yaml'])).toEqual({ code: 1, error });
  });

  test('says that etcd cannot be reached, also for a server alone', async () => {
    await using at = new Workplace();
    const url = `http://127.0.0.1:${await freePort()}`;
    const error = expect.stringMatching(/etcd at http:.* cannot be reached \(.*\); start it, or say where it is with --etcd-servers/);
    expect(await failure(at, ['--store', 'etcd', '--etcd-servers', url])).toEqual({ code: 1, error });
    const { serving } = await createPki({ names: {}, now: realClock.now(), random: systemRandom });
    writeFileSync(at.path('crt'), serving.certificate);
    writeFileSync(at.path('key'), serving.key);
    const files = ['--tls-cert-file=crt', '--tls-private-key-file=key', '--client-ca-file=crt', '--service-account-signing-key-file=key'];
    expect(await at.sampan('apiserver', `--etcd-servers=${url}`, ...files)).toMatchObject({ code: 1, stderr: error });
  });

  test('says that the store is damaged, and touches nothing', async () => {
    await using at = new Workplace();
    const port = String(await freePort());
    await at.sampan('up', '--runtime', 'simulated', '-d', '--no-merge', '--port', port);
    await at.sampan('down');
    const file = at.path('.local/share/sampan/default/store/data.mdb');
    writeFileSync(file, Buffer.alloc(16_384, 7));
    const error = expect.stringMatching(
      /data\.mdb is damaged: .*; to give up what it holds and start with an empty cluster: sampan delete/,
    );
    expect(await failure(at, ['--port', port])).toEqual({ code: 1, error });
    expect(readFileSync(file)).toEqual(Buffer.alloc(16_384, 7));
  });
});
