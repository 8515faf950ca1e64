import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of real nodes are skipped: ${reason}`);

const POLL = { timeout: 90_000, interval: 500 };
/** Each test waits for several pods. */
const PATIENCE = { timeout: 400_000 };
const UP = ['--node-name', 'machine'];

/** Like the charts of databases: not root, fsGroup, a subPath of the claim, scratch directories in one emptyDir, memory for /dev/shm. */
const DATABASE = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: sized }
provisioner: sampan.dev/local
parameters: { backing: loop }
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
---
apiVersion: v1
kind: ConfigMap
metadata: { name: db-scripts }
data:
  start.sh: |
    set -e
    id -u > /data/who; id -G >> /data/who
    echo $HOSTNAME >> /data/base/starts 2>/dev/null || { mkdir /data/base; echo $HOSTNAME >> /data/base/starts; }
    touch /tmp/t /etc/app/c /dev/shm/s
    sync
    exec sleep 100000
---
apiVersion: v1
kind: Service
metadata: { name: db-headless }
spec: { clusterIP: None, selector: { app: db }, ports: [{ name: tcp, port: 5432 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db-headless
  replicas: 2
  podManagementPolicy: Parallel
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 1
      securityContext: { fsGroup: 1001, fsGroupChangePolicy: OnRootMismatch }
      initContainers:
      - name: permissions
        image: busybox:1
        command: [sh, -c, 'mkdir -p /all/main && chown 1001:1001 /all/main']
        securityContext: { runAsUser: 0 }
        volumeMounts: [{ name: data, mountPath: /all }]
      containers:
      - name: db
        image: busybox:1
        command: [sh, /scripts/start.sh]
        securityContext: { runAsUser: 1001, runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
        volumeMounts:
        - { name: data, mountPath: /data, subPath: main }
        - { name: scratch, mountPath: /tmp, subPath: tmp }
        - { name: scratch, mountPath: /etc/app, subPath: conf }
        - { name: shm, mountPath: /dev/shm }
        - { name: scripts, mountPath: /scripts }
      volumes:
      - { name: scratch, emptyDir: {} }
      - { name: shm, emptyDir: { medium: Memory, sizeLimit: 16Mi } }
      - { name: scripts, configMap: { name: db-scripts, defaultMode: 0555 } }
  volumeClaimTemplates:
  - metadata: { name: data }
    spec: { accessModes: [ReadWriteOnce], storageClassName: sized, resources: { requests: { storage: 16Mi } } }
`;

describe.skipIf(reason !== undefined)('a database as charts install it, on a real node', () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start(...UP);
    await node.apply(DATABASE);
  });
  afterAll(() => node?.[Symbol.asyncDispose]());

  const read = async (pod: string, file: string) => {
    const { stdout, stderr } = await node.run('kubectl', ['exec', pod, '-c', 'db', '--', 'cat', file]);
    return (stdout || stderr).trim();
  };
  const starts = (pod: string) => read(pod, '/data/base/starts');
  const mounts = async () => (await node.run('cat', ['/proc/self/mountinfo'])).stdout.split('\n').map((line) => line.split(' ')[4] ?? '');
  const volumes = () => readdirSync(path.join(node.dataDirectory, 'local-volumes'));

  test('writes as its user and group below a subPath of its claim', PATIENCE, async () => {
    await expect.poll(() => starts('db-1'), POLL).toBe('db-1');
    expect(await read('db-0', '/data/who')).toBe('1001\n0 1001');
  });

  test('finds its data when it is scaled down and up, deleted, and when the cluster was killed', PATIENCE, async () => {
    await expect.poll(() => starts('db-0'), POLL).toBe('db-0');
    await node.kubectl('scale', 'statefulset', 'db', '--replicas=1');
    await expect.poll(() => node.kubectl('get', 'pods', '-o', 'name'), POLL).toBe('pod/db-0');
    process.kill(await node.pid(), 'SIGKILL');
    await node.up(...UP);
    await node.kubectl('delete', 'pod', 'db-0');
    await node.kubectl('scale', 'statefulset', 'db', '--replicas=2');
    await expect.poll(() => starts('db-0'), POLL).toBe('db-0\ndb-0');
    await expect.poll(() => starts('db-1'), POLL).toBe('db-1\ndb-1');
  });

  test('gets more room when its claim asks for it, at the latest with its next pod', PATIENCE, async () => {
    await node.kubectl('patch', 'pvc', 'data-db-0', '-p', '{"spec":{"resources":{"requests":{"storage":"64Mi"}}}}');
    const sizes = '.spec.capacity.storage';
    const volume = await node.kubectl('get', 'pvc', 'data-db-0', '-o', 'jsonpath={.spec.volumeName}');
    await expect.poll(() => node.kubectl('get', 'pv', volume, '-o', `jsonpath={${sizes}}`), POLL).toBe('64Mi');
    await node.kubectl('delete', 'pod', 'db-0');
    await expect.poll(() => node.kubectl('get', 'pvc', 'data-db-0', '-o', 'jsonpath={.status.capacity.storage}'), POLL).toBe('64Mi');
    await expect.poll(() => starts('db-0'), POLL).toBe('db-0\ndb-0\ndb-0');
    const kibibytes = (await node.kubectl('exec', 'db-0', '-c', 'db', '--', 'df', '-k', '/data')).split('\n').at(-1)?.split(/\s+/)[1];
    expect(Number(kibibytes)).toBeGreaterThan(40 << 10);
  });

  test('leaves its claims, and nothing else, when it is deleted, and nothing at all when they are', PATIENCE, async () => {
    await node.kubectl('delete', 'statefulset', 'db');
    await expect.poll(() => node.kubectl('get', 'pods', '-o', 'name'), POLL).toBe('');
    const ofPods = async () => (await mounts()).filter((point) => point.startsWith(path.join(node.dataDirectory, 'kubelet/pods')));
    await expect.poll(ofPods, POLL).toEqual([]);
    expect(await node.kubectl('get', 'pvc', '-o', 'name')).toBe('persistentvolumeclaim/data-db-0\npersistentvolumeclaim/data-db-1');
    await node.kubectl('delete', 'pvc', '--all');
    await expect.poll(() => node.kubectl('get', 'pv', '-o', 'name'), POLL).toBe('');
    await expect.poll(volumes, POLL).toEqual([]);
    expect((await node.run('losetup', ['--list'])).stdout).not.toContain(node.dataDirectory);
    expect(readdirSync(path.join(node.dataDirectory, 'kubelet/pods'))).toEqual([]);
  });
});
