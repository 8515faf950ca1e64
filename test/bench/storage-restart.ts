import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { core } from '#api';
import { realClock, silentLogger, systemRandom } from '#base';
import { CsiDrivers, hostMounter, NodeVolumes, PodDirectories } from '#kubelet';
import { type ControlPlane, startControlPlane } from '../integration/control-plane.ts';

export interface Reconstruction {
  /** Milliseconds to mount the volumes of all pods, and for the next kubelet to adopt them. */
  readonly mountMs: number;
  readonly reconstructMs: number;
}

/** A kubelet with mounted volumes, and a kubelet that starts after it. */
export async function reconstruct(count: number): Promise<Reconstruction> {
  await using plane = await startControlPlane();
  const root = await mkdtemp(join(tmpdir(), 'sampan-bench-'));
  try {
    const pods = await makePods(plane, root, count);
    const mountMs = await prepareAll(plane, root, pods);
    const reconstructMs = await prepareAll(plane, root, pods);
    await cleanUpAll(plane, root, pods);
    return { mountMs, reconstructMs };
  } finally {
    const mounter = hostMounter();
    await mounter.unmount(...(await mounter.mountsBelow(root)).map(({ path }) => path).reverse());
    await rm(root, { recursive: true });
  }
}

async function makePods(plane: ControlPlane, root: string, count: number): Promise<readonly core.Pod[]> {
  const { client } = plane;
  await plane.until(async () => (await client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
  await client.of(core.Node).create({ metadata: { name: 'node-1' } });
  const names = Array.from({ length: count }, (_, i) => `v-${i}`);
  for (const name of names) await makeVolume(plane, name, join(root, 'volumes', name));
  const claims = client.of(core.PersistentVolumeClaim);
  await plane.until(async () => (await claims.list({ namespace: 'default' })).items.every(({ status }) => status?.phase === 'Bound'));
  return await Promise.all(names.map((name) => client.of(core.Pod).create(podOf(name) as never)));
}

async function makeVolume({ client }: ControlPlane, name: string, path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  const key = { name, namespace: 'default' };
  const values = ['node-1'];
  const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] };
  const nodeAffinity = { required: { nodeSelectorTerms: [term] } };
  await client.of(core.PersistentVolumeClaim).create({
    metadata: key,
    spec: { ...shared, resources: { requests: { storage: '1Gi' } }, volumeName: name },
  });
  await client.of(core.PersistentVolume).create({
    metadata: { name },
    spec: { ...shared, capacity: { storage: '1Gi' }, claimRef: key, local: { path }, nodeAffinity },
  });
}

function podOf(name: string): object {
  const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: name } }];
  return { metadata: { name, namespace: 'default' }, spec: { automountServiceAccountToken: false, containers, volumes } };
}

function openVolumes({ client }: ControlPlane, root: string): NodeVolumes {
  const ignore = () => {};
  return new NodeVolumes({
    ...{ client, clock: realClock, random: systemRandom, logger: silentLogger, mounter: hostMounter(), drivers: new CsiDrivers() },
    ...{ nodeName: 'node-1', directories: new PodDirectories(root), allocatable: () => undefined },
    recorder: { normal: ignore, warning: ignore, record: ignore },
  });
}

async function prepareAll(plane: ControlPlane, root: string, pods: readonly core.Pod[]): Promise<number> {
  await using volumes = openVolumes(plane, root);
  const since = realClock.monotonic();
  await Promise.all(pods.map((pod) => volumes.prepare(pod, new AbortController().signal)));
  return realClock.monotonic() - since;
}

async function cleanUpAll(plane: ControlPlane, root: string, pods: readonly core.Pod[]): Promise<void> {
  await using volumes = openVolumes(plane, root);
  await Promise.all(pods.map(({ metadata }) => volumes.cleanUp(metadata.uid ?? '')));
}
