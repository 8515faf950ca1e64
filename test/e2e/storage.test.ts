import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleProgram, type ChildProgram, type RunningProgram } from '../robustness/child-program.ts';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of real nodes are skipped: ${reason}`);

const POLL = { timeout: 90_000, interval: 500 };
const UP = ['--node-name', 'machine'];
const DRIVER = 'disk.example.com';

const STATEFUL_SET = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: db
        image: busybox:1
        command: [sh, -c, 'echo $HOSTNAME >> /data/starts; sync; exec sleep 100000']
        volumeMounts: [{ name: data, mountPath: /data }]
  volumeClaimTemplates:
  - metadata: { name: data }
    spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const claim = (name: string, spec: string) => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name} }
spec: { accessModes: [ReadWriteOnce], ${spec} }
---
`;
const podWith = (name: string, command: string, use: string) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  containers: [{ name: main, image: 'busybox:1', command: [sh, -c, '${command}'], ${use}]
`;
const mountOf = (claimName: string) =>
  `volumeMounts: [{ name: v, mountPath: /v }] }]\n  volumes: [{ name: v, persistentVolumeClaim: { claimName: ${claimName} } }`;
const deviceOf = (claimName: string) =>
  `volumeDevices: [{ name: v, devicePath: /dev/x }] }]\n  volumes: [{ name: v, persistentVolumeClaim: { claimName: ${claimName} } }`;

describe.skipIf(reason !== undefined)('storage on a real node', () => {
  let node: RealNode;
  let program: ChildProgram;
  let driver: RunningProgram | undefined;
  beforeAll(async () => {
    program = await bundleProgram('csi-driver');
    node = await RealNode.start(...UP);
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    driver?.process.kill('SIGKILL');
    await driver?.ended;
    await program?.[Symbol.asyncDispose]();
  });

  const read = async (pod: string, file: string) => {
    const { stdout, stderr } = await node.run('kubectl', ['exec', pod, '--', 'cat', file]);
    return (stdout || stderr).trim();
  };
  const field = (object: string, jsonPath: string) => node.kubectl('get', object, '-o', `jsonpath={${jsonPath}}`);
  const isGone = async (...objects: readonly string[]) => (await node.run('kubectl', ['get', ...objects])).code !== 0;
  const kubeletRoot = () => path.join(node.dataDirectory, 'kubelet');

  test('a StatefulSet keeps its data across pods, a kill -9 of the cluster, and a new start', async () => {
    await node.apply(STATEFUL_SET);
    await expect.poll(() => read('db-1', '/data/starts'), POLL).toBe('db-1');
    const volume = await field('pvc/data-db-0', '.spec.volumeName');
    await node.kubectl('delete', 'pod', 'db-0');
    await expect.poll(() => read('db-0', '/data/starts'), POLL).toBe('db-0\ndb-0');
    process.kill(await node.pid(), 'SIGKILL');
    await node.up(...UP);
    expect(await read('db-0', '/data/starts')).toBe('db-0\ndb-0');
    await node.kubectl('delete', 'pod', 'db-0', 'db-1');
    await expect.poll(() => read('db-0', '/data/starts'), POLL).toBe('db-0\ndb-0\ndb-0');
    expect(await field('pvc/data-db-0', '.spec.volumeName')).toBe(volume);
  });

  test('what a volume holds is told by the kubelet', async () => {
    await expect
      .poll(async () => {
        const { pods } = JSON.parse(await node.kubectl('get', '--raw', '/api/v1/nodes/machine/proxy/stats/summary')) as {
          pods: { podRef: { name: string }; volume?: { name: string; pvcRef?: object; capacityBytes: number }[] }[];
        };
        return pods.find(({ podRef }) => podRef.name === 'db-0')?.volume?.find(({ name }) => name === 'data')?.pvcRef;
      }, POLL)
      .toEqual({ namespace: 'default', name: 'data-db-0' });
  });

  test('claims go with their StatefulSet where it says so, and the data with them', async () => {
    const volumes = () => readdirSync(path.join(node.dataDirectory, 'local-volumes')).filter((name) => name.startsWith('pvc-'));
    expect(volumes()).toHaveLength(2);
    await node.kubectl('delete', 'statefulset', 'db');
    await expect.poll(() => node.kubectl('get', 'pvc,pv', '-o', 'name'), POLL).toBe('');
    await expect.poll(volumes, POLL).toEqual([]);
  });

  test('a raw block volume is a device in the container, and keeps what was written', async () => {
    await node.apply(claim('raw', 'volumeMode: Block, resources: { requests: { storage: 8Mi } }'));
    await node.apply(podWith('writer', 'printf kept | dd of=/dev/x conv=fsync', deviceOf('raw')));
    await expect.poll(() => field('pod/writer', '.status.phase'), POLL).toBe('Succeeded');
    await node.kubectl('delete', 'pod', 'writer');
    await node.apply(podWith('reader', 'head -c 4 /dev/x', deviceOf('raw')));
    await expect.poll(() => field('pod/reader', '.status.phase'), POLL).toBe('Succeeded');
    expect(await node.kubectl('logs', 'reader')).toBe('kept');
    await node.kubectl('delete', 'pod/reader', 'pvc/raw');
    await expect.poll(() => node.kubectl('get', 'pv', '-o', 'name'), POLL).toBe('');
    expect((await node.run('losetup', ['--list'])).stdout).not.toContain(node.dataDirectory);
  });

  test('a path that leads out of the volume is refused, and told', async () => {
    await node.apply(claim('links', 'resources: { requests: { storage: 1Mi } }'));
    await node.apply(podWith('linker', 'ln -s / /v/out', mountOf('links')));
    await expect.poll(() => field('pod/linker', '.status.phase'), POLL).toBe('Succeeded');
    const use = mountOf('links').replace('mountPath: /v', 'mountPath: /v, subPath: out/etc');
    await node.apply(podWith('escaper', 'ls /v', use));
    const waiting = '.status.containerStatuses[0].state.waiting';
    await expect.poll(() => field('pod/escaper', `${waiting}.reason`), POLL).toBe('CreateContainerConfigError');
    expect(await field('pod/escaper', `${waiting}.message`)).toContain('failed to prepare subPath for volumeMount "v" of container "main"');
    await node.kubectl('delete', 'pod/linker', 'pod/escaper', 'pvc/links');
  });

  const startDriver = async (): Promise<void> => {
    const options = {
      ...{ name: DRIVER, nodeId: 'machine', root: node.at.path('driver'), socket: path.join(kubeletRoot(), 'plugins', DRIVER, 'csi.sock') },
      registrationSocket: path.join(kubeletRoot(), 'plugins_registry', `${DRIVER}-reg.sock`),
    };
    driver = program.start([JSON.stringify([options])], ['nsenter', ...node.enter]);
    await driver.wrote(1);
  };

  test('a CSI driver on the node serves claims without sidecars, and survives its own death and the cluster’s', async () => {
    await node.apply(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: fast }
provisioner: ${DRIVER}
allowVolumeExpansion: true
`);
    await node.apply(claim('disk', 'storageClassName: fast, resources: { requests: { storage: 1Gi } }'));
    await startDriver();
    await node.apply(podWith('user', 'echo kept > /v/f; sync; sleep 100000', mountOf('disk')));
    await expect.poll(() => read('user', '/v/f'), POLL).toBe('kept');
    expect(await node.kubectl('get', 'volumeattachments', '-o', 'jsonpath={.items[*].status.attached}')).toBe('true');
    driver?.process.kill('SIGKILL');
    await driver?.ended;
    process.kill(await node.pid(), 'SIGKILL');
    await node.up(...UP);
    expect(await read('user', '/v/f')).toBe('kept');
    await startDriver();
    await node.kubectl('patch', 'pvc', 'disk', '-p', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}');
    await expect.poll(() => field('pvc/disk', '.status.capacity.storage'), POLL).toBe('2Gi');
  });

  test('a snapshot is taken of its volume, and another volume is filled from it', async () => {
    await node.apply(`
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: { name: snap }
driver: ${DRIVER}
deletionPolicy: Delete
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: { name: before }
spec: { volumeSnapshotClassName: snap, source: { persistentVolumeClaimName: disk } }
`);
    await expect.poll(() => field('volumesnapshot/before', '.status.readyToUse'), POLL).toBe('true');
    const source = 'dataSource: { apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: before }';
    await node.apply(claim('restored', `storageClassName: fast, ${source}, resources: { requests: { storage: 2Gi } }`));
    await node.apply(podWith('restorer', 'cat /v/f', mountOf('restored')));
    await expect.poll(() => field('pod/restorer', '.status.phase'), POLL).toBe('Succeeded');
    expect(await node.kubectl('logs', 'restorer')).toBe('kept');
  });

  test('nothing is left when all is deleted', async () => {
    await node.kubectl('delete', 'pod/user', 'pod/restorer', 'volumesnapshot/before', 'pvc/disk', 'pvc/restored');
    await expect.poll(() => isGone('volumesnapshot', 'before'), POLL).toBe(true);
    await expect.poll(() => node.kubectl('get', 'pv,volumeattachments,volumesnapshotcontents', '-o', 'name'), POLL).toBe('');
    expect(readdirSync(node.at.path('driver/volumes'))).toEqual([]);
    expect(readdirSync(node.at.path('driver/snapshots'))).toEqual([]);
    expect((await node.run('cat', ['/proc/self/mountinfo'])).stdout).not.toContain(path.join(kubeletRoot(), 'plugins'));
    expect(existsSync(path.join(kubeletRoot(), 'plugins/kubernetes.io/csi', DRIVER, 'x'))).toBe(false);
  });
});
