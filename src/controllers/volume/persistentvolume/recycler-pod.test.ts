import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { runProgram } from '#base';
import { DEFAULT_RECYCLERS, isRecyclable, recyclerPod } from './recycler-pod.ts';

const volume = (spec: object, storage = '1Gi') =>
  ({ metadata: { name: 'disk' }, spec: { capacity: { storage }, ...spec } }) as core.PersistentVolume;
const NFS = { nfs: { server: 'nas', path: '/export' } };

describe('the pod that recycles a volume', () => {
  it('mounts the volume where its command deletes', () => {
    const pod = recyclerPod(volume({ hostPath: { path: '/data', type: 'Directory' } }), DEFAULT_RECYCLERS);
    expect(pod.metadata).toEqual({ name: 'recycler-for-disk', namespace: 'default' });
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Never',
      activeDeadlineSeconds: 60,
      volumes: [{ name: 'vol', hostPath: { path: '/data' } }],
      containers: [{ volumeMounts: [{ name: 'vol', mountPath: '/scrub' }] }],
    });
  });

  it('deletes all that is in the volume, hidden files too, and fails where there is none', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'recycled-'));
    const [shell = '', ...args] = recyclerPod(volume(NFS), DEFAULT_RECYCLERS).spec?.containers[0]?.command ?? [];
    const run = () =>
      runProgram(
        shell,
        args.map((text) => text.replaceAll('/scrub', directory)),
      );
    await mkdir(join(directory, 'sub/deep'), { recursive: true });
    for (const name of ['f', '.hidden', '..odd', 'sub/deep/g', ' with space']) await writeFile(join(directory, name), 'x');
    await run();
    expect(await readdir(directory)).toEqual([]);
    await run();
    await rm(directory, { recursive: true });
    await expect(run()).rejects.toThrow();
  });

  it.each([
    ['1Gi', 300],
    ['20Gi', 600],
    ['100M', 300],
  ])('has time according to its size: %s', (size, seconds) => {
    expect(recyclerPod(volume(NFS, size), DEFAULT_RECYCLERS).spec?.activeDeadlineSeconds).toBe(seconds);
  });

  it('follows a template but for its first volume, its name and its time', () => {
    const template = {
      metadata: { generateName: 'x-', namespace: 'storage', labels: { a: 'b' } },
      spec: {
        containers: [{ name: 'c', image: 'own' }],
        volumes: [
          { name: 'first', emptyDir: {} },
          { name: 'second', emptyDir: {} },
        ],
      },
    };
    const options = { ...DEFAULT_RECYCLERS, nfs: { template, minimumTimeoutSeconds: 1, timeoutIncrementSeconds: 5 } };
    const pod = recyclerPod(volume(NFS), options);
    expect(pod.metadata).toEqual({ name: 'recycler-for-disk', namespace: 'storage', labels: { a: 'b' } });
    expect(pod.spec?.volumes).toEqual([
      { name: 'first', nfs: { server: 'nas', path: '/export' } },
      { name: 'second', emptyDir: {} },
    ]);
    expect(pod.spec?.activeDeadlineSeconds).toBe(5);
  });

  it('is for hostPath and NFS only', () => {
    expect(
      [{ hostPath: { path: '/x' } }, NFS, { csi: { driver: 'd', volumeHandle: 'h' } }].map((spec) => isRecyclable(volume(spec))),
    ).toEqual([true, true, false]);
  });
});
