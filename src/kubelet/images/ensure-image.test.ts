import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, silentLogger } from '#base';
import { type ContainerRuntime, type PullRequest, RuntimeError } from '../cri/runtime.ts';
import type { PodEvents } from '../pods/pod-events.ts';
import { RestartBackoff } from '../pods/restart-backoff.ts';
import { type ImageRequest, imageEnsurer } from './ensure-image.ts';
import { PullRecords } from './pull-records.ts';

const IMAGE = 'example.com/private:1';
const secret = { uid: 'u', namespace: 'default', name: 's', credentialHash: 'h' };

/** A node whose registry requires credentials; pods whose name begins with `able` have them. */
async function openNode(directory: string) {
  let isPresent = false;
  const present = { id: 'sha256:1', repoTags: [IMAGE], repoDigests: [], sizeBytes: 1, pinned: false };
  const runtime = {
    imageStatus: async () => (isPresent ? present : undefined),
    listImages: async () => [],
    async pullImage(_: object, { auth }: PullRequest) {
      if (auth?.password !== 'p') throw new RuntimeError('unknown', 'authorization failed');
      isPresent = true;
      return present.id;
    },
  } as unknown as ContainerRuntime;
  const deps = { clock: realClock, logger: silentLogger, runtime };
  const pullRecords = new PullRecords(directory, { policy: 'NeverVerifyPreloadedImages', allowlist: [] }, deps);
  await pullRecords.open();
  const credentials = async ({ metadata }: core.Pod) => [metadata.name?.startsWith('able') ? { auth: { password: 'p' }, secret } : {}];
  const ensure = imageEnsurer({ ...deps, backoff: new RestartBackoff(realClock), lastErrors: new Map(), credentials, pullRecords });
  const events: string[] = [];
  const record = (_: string | undefined, reason: string) => void events.push(reason);
  const start = (name: string, imagePullPolicy = 'IfNotPresent') =>
    ensure({
      pod: { metadata: { name, namespace: 'default', uid: name } },
      container: { name: 'c', image: IMAGE, imagePullPolicy },
      sandboxConfig: {},
      events: { normal: record, warning: record } as unknown as PodEvents,
      signal: new AbortController().signal,
    } as unknown as ImageRequest);
  return { start, events };
}

describe('an image that was pulled with a secret', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'ensure-image-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is for pods that have the secret, without another pull', async () => {
    const { start, events } = await openNode(directory);
    await start('able');
    await start('able-too');
    expect(events).toEqual(['Pulling', 'Pulled', 'Pulled']);
  });

  it('is not for pods without, whatever their pull policy', async () => {
    const { start } = await openNode(directory);
    await start('able');
    await expect(start('other')).rejects.toMatchObject({ reason: 'ErrImagePull' });
    await expect(start('never', 'Never')).rejects.toMatchObject({
      reason: 'ErrImageNeverPull',
      message: `Container image "${IMAGE}" is not present with pull policy of Never`,
    });
  });

  it('shows the message of a failed pull without the code Unknown', async () => {
    const { start } = await openNode(directory);
    await expect(start('other')).rejects.toMatchObject({ reason: 'ErrImagePull', message: 'authorization failed' });
  });
});
