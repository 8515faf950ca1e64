import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of real nodes are skipped: ${reason}`);

const POLL = { timeout: 90_000, interval: 500 };

const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Mi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]
  containers:
  - name: web
    image: busybox:1
    command: [sh, -c, 'test -e /data/index.html || echo written once by $HOSTNAME > /data/index.html; echo serving; exec httpd -f -p 8080 -h /data']
    volumeMounts: [{ name: data, mountPath: /data }]
    readinessProbe: { httpGet: { path: /, port: 8080 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Pod
metadata: { name: client }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: client, image: 'busybox:1', command: [sleep, '100000'] }]
`;

describe.skipIf(reason !== undefined)('from a manifest to an answer on a real node', () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start('--node-name', 'machine');
    await node.apply(MANIFEST);
    await node.kubectl('wait', '--for=condition=Ready', 'pod/web', 'pod/client', '--timeout=25s');
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  const inClient = async (...command: readonly string[]) => {
    const { stdout, stderr } = await node.run('kubectl', ['exec', 'client', '--', ...command]);
    return (stdout || stderr).trim();
  };

  test('a pod has an address of the pod network, and kubectl reads its log', async () => {
    expect(await node.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}')).toMatch(/^10\.244\.0\.\d+$/);
    expect(await node.kubectl('logs', 'web')).toBe('serving');
  });

  /** Debian's static busybox cannot use getaddrinfo: its nslookup applet implements DNS itself. */
  const addressOf = async (name: string) => /Address: (10\.96\.[\d.]+)/.exec(await inClient('nslookup', '-type=a', name))?.[1] ?? '';
  const FETCH = 'fetch(process.argv[1]).then((answer) => answer.text()).then((text) => console.log(text))';
  const read = async (name: string) => (await node.run(process.execPath, ['-e', FETCH, `http://${await addressOf(name)}`])).stdout.trim();

  test('a service has a name that another pod looks up, and answers at its address', async () => {
    await expect.poll(() => read('web.default.svc.cluster.local'), POLL).toBe('written once by web');
  });

  test('names that do not exist are not found, and the API server has its name', async () => {
    expect(await inClient('nslookup', 'none.default.svc.cluster.local')).toContain('NXDOMAIN');
    const address = await addressOf('kubernetes.default.svc.cluster.local');
    expect(address).toBe('10.96.0.1');
  });

  test('a claim keeps its data when another pod takes it over', async () => {
    await node.kubectl('delete', 'pod', 'web');
    await node.apply(
      MANIFEST.split('---')
        .filter((text) => text.includes('name: web, labels'))[0]!
        .replace('name: web,', 'name: web-2,'),
    );
    await node.kubectl('wait', '--for=condition=Ready', 'pod/web-2', '--timeout=25s');
    await expect.poll(() => read('web.default.svc.cluster.local'), POLL).toBe('written once by web');
  });
});
