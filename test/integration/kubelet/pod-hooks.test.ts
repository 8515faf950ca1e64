import { expect, it } from 'vitest';
import { core } from '#api';
import type { PodHook } from '../../../src/kubelet/pods/hooks/pod-hook.ts';
import { PodRejectedError } from '../../../src/kubelet/pods/hooks/pod-rejected-error.ts';
import { openNodeBench } from './node-bench.ts';

/** A hook that records its calls, repeated calls once. */
function recordingHook(name: string, calls: string[]): PodHook {
  const record = async (step: string) => {
    if (!calls.includes(`${name} ${step}`)) calls.push(`${name} ${step}`);
  };
  return {
    name,
    prepare: () => record('prepare'),
    preStart: async () => void (await record('preStart')),
    postStart: () => record('postStart'),
    preStop: () => record('preStop'),
    postStop: () => record('postStop'),
    cleanUp: () => record('cleanUp'),
  };
}

it('the hooks of a node run in their order as a pod starts, and in reverse order as it ends', async () => {
  const calls: string[] = [];
  await using bench = await openNodeBench({}, 1, { hooks: [recordingHook('volumes', calls), recordingHook('devices', calls)] });
  await bench.create('p');
  await bench.clock.advance(10_000);
  expect(await bench.container('p')).toMatchObject({ ready: true });
  await bench.delete('p');
  await bench.clock.advance(60_000);
  const started = ['prepare', 'preStart', 'postStart'].flatMap((step) => [`volumes ${step}`, `devices ${step}`]);
  const ended = ['preStop', 'postStop', 'cleanUp'].flatMap((step) => [`devices ${step}`, `volumes ${step}`]);
  expect(calls).toEqual([...started, ...ended]);
});

it('no sandbox is created before the hooks have prepared the pod', async () => {
  let isMounted = false;
  const volumes: PodHook = {
    name: 'volumes',
    prepare: async () => {
      if (!isMounted) throw new Error('not mounted yet');
    },
  };
  await using bench = await openNodeBench({}, 1, { hooks: [volumes] });
  await bench.create('p');
  await bench.clock.advance(60_000);
  expect(await bench.runtime.listPodSandbox()).toEqual([]);
  isMounted = true;
  await bench.clock.advance(200_000);
  expect(await bench.container('p')).toMatchObject({ ready: true });
});

it('a pod that a hook rejects fails with the reason, and what was prepared is released', async () => {
  const calls: string[] = [];
  const limited: PodHook = {
    name: 'limited',
    prepare: () => Promise.reject(new PodRejectedError({ reason: 'VolumeAttachmentLimitExceeded', message: 'too many volumes' })),
  };
  await using bench = await openNodeBench({}, 1, { hooks: [recordingHook('volumes', calls), limited] });
  await bench.create('p');
  await bench.clock.advance(10_000);
  const { phase, reason, message } = (await bench.pod('p')).status ?? {};
  expect({ phase, reason, message }).toEqual({
    ...{ phase: 'Failed', reason: 'VolumeAttachmentLimitExceeded', message: 'Pod was rejected: too many volumes' },
  });
  const { items } = await bench.client.of(core.Event).list();
  expect(items.filter((event) => event.reason === reason).map((event) => event.message)).toEqual(['too many volumes']);
  expect(calls).toEqual(['volumes prepare', 'volumes postStop']);
  expect(await bench.runtime.listPodSandbox()).toEqual([]);
});

it('a pod object stays until the hooks have released what its containers used', async () => {
  let isUnmounted = false;
  const volumes: PodHook = {
    name: 'volumes',
    postStop: async () => {
      if (!isUnmounted) throw new Error('still mounted');
    },
  };
  await using bench = await openNodeBench({}, 1, { hooks: [volumes] });
  await bench.create('p');
  await bench.clock.advance(10_000);
  await bench.delete('p');
  await bench.clock.advance(120_000);
  expect((await bench.client.of(core.Pod).get({ name: 'p', namespace: 'default' })).metadata.deletionTimestamp).toBeDefined();
  isUnmounted = true;
  await bench.clock.advance(200_000);
  await expect(bench.pod('p')).rejects.toMatchObject({ code: 404 });
});
