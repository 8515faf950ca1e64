import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Container, Image, Sandbox } from '../cri/runtime.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { containerGarbage, podOfLogDirectory } from './container-garbage.ts';
import { bytesToFree, detectImages, expiredImages, type ImageRecords, imagesToFree, removableImages } from './image-garbage.ts';

const image = (id: string, overrides: Partial<Image> = {}): Image => ({
  id,
  repoTags: [],
  repoDigests: [],
  sizeBytes: 10,
  pinned: false,
  ...overrides,
});
const ids = (records: readonly { readonly image: Image }[]) => records.map((record) => record.image.id);

describe('image garbage', () => {
  const noRecords: ImageRecords = new Map();

  it('goes by last use, and what was never used first', () => {
    const images = [image('old'), image('recent'), image('never')];
    const first = detectImages(noRecords, { images, inUse: new Set(['old']), nowMs: 0 });
    const second = detectImages(first, { images, inUse: new Set(['recent']), nowMs: 1000 });
    const third = detectImages(second, { images, inUse: new Set(), nowMs: 200_000 });
    expect(ids(removableImages({ records: third, minimumAgeMs: 120_000, nowMs: 200_000 }))).toEqual(['never', 'old', 'recent']);
  });

  it('leaves what is young, pinned or in use', () => {
    const before = detectImages(noRecords, { images: [image('used'), image('pinned', { pinned: true })], inUse: new Set(), nowMs: 0 });
    const images = [image('used'), image('pinned', { pinned: true }), image('young')];
    const records = detectImages(before, { images, inUse: new Set(['used']), nowMs: 130_000 });
    expect(ids(removableImages({ records, minimumAgeMs: 120_000, nowMs: 130_000 }))).toEqual([]);
  });

  it.each([
    [{ capacity: 1000, available: 160 }, {}, 0],
    [{ capacity: 1000, available: 150 }, {}, 50],
    [{ capacity: 1000, available: 0 }, {}, 200],
    [{ capacity: 1000, available: 0 }, { imageGCHighThresholdPercent: 100 }, 0],
    [{ capacity: 1000, available: 500 }, { imageGCHighThresholdPercent: 40, imageGCLowThresholdPercent: 30 }, 200],
  ])('of %j with %j, so many bytes are to go: %d', (disk, config, bytes) => {
    expect(bytesToFree(disk, config)).toBe(bytes);
  });

  it('frees at least what is asked for, and no image more than needed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 20 }), fc.integer({ min: 1, max: 500 }), (sizes, bytes) => {
        const records = sizes.map((sizeBytes, i) => ({ image: image(`i${i}`, { sizeBytes }), firstDetectedMs: 0, lastUsedMs: undefined }));
        const chosen = imagesToFree(records, bytes);
        const freed = chosen.reduce((sum, record) => sum + record.image.sizeBytes, 0);
        if (chosen.length < records.length) expect(freed).toBeGreaterThanOrEqual(bytes);
        expect(freed - (chosen.at(-1)?.image.sizeBytes ?? 0)).toBeLessThan(bytes);
      }),
    );
  });

  it('expires what nobody used for the maximum age', () => {
    const records = [
      { image: image('fresh'), firstDetectedMs: 0, lastUsedMs: 900 },
      { image: image('stale'), firstDetectedMs: 0, lastUsedMs: 100 },
      { image: image('unused'), firstDetectedMs: 0, lastUsedMs: undefined },
    ];
    expect(ids(expiredImages(records, 500, 1000))).toEqual(['stale', 'unused']);
    expect(expiredImages(records, 0, 1000)).toEqual([]);
  });
});

describe('containerGarbage', () => {
  const sandbox = (id: string, uid: string | undefined, overrides: Partial<Sandbox> = {}): Sandbox => ({
    ...{
      id,
      metadata: { name: '', uid: '', namespace: '', attempt: 0 },
      state: 'notReady',
      createdAtMs: 0,
      annotations: {},
      runtimeHandler: '',
    },
    labels: uid === undefined ? {} : { [POD_UID]: uid },
    ...overrides,
  });
  const container = (id: string, uid: string, overrides: Partial<Container> = {}): Container => ({
    ...{ id, sandboxId: `s-${uid}`, metadata: { name: 'c', attempt: 0 }, image: { image: '' }, imageRef: '', imageId: '' },
    ...{ state: 'exited', createdAtMs: 0, annotations: {}, labels: { [POD_UID]: uid, [CONTAINER_NAME]: 'c' } },
    ...overrides,
  });
  const garbage = (containers: readonly Container[], sandboxes: readonly Sandbox[], overrides = {}) => {
    const facts = { containers, sandboxes, livePods: new Set(['live']), endedPods: new Set<string>(), isPressing: false, ...overrides };
    const result = containerGarbage(facts);
    return { containers: result.containers.map(({ id }) => id), sandboxes: result.sandboxes.map(({ id }) => id) };
  };

  it('keeps the last ended container of each name of a live pod', () => {
    const containers = [
      container('new', 'live', { createdAtMs: 2 }),
      container('old', 'live', { createdAtMs: 1 }),
      container('oldest', 'live'),
    ];
    expect(garbage(containers, []).containers).toEqual(['old', 'oldest']);
  });

  it('removes all ended containers of a deleted pod, and no running one', () => {
    const containers = [container('dead', 'gone'), container('runs', 'gone', { state: 'running', sandboxId: 's2' })];
    const sandboxes = [
      sandbox('s-gone', 'gone'),
      sandbox('s2', 'gone', { state: 'notReady' }),
      sandbox('ready', 'gone', { state: 'ready' }),
    ];
    expect(garbage(containers, sandboxes)).toEqual({ containers: ['dead'], sandboxes: ['s-gone'] });
  });

  it('removes sandboxes that a live pod has replaced, once they are empty', () => {
    const sandboxes = [sandbox('a', 'live'), sandbox('b', 'live', { createdAtMs: 1 }), sandbox('c', 'live', { createdAtMs: 2 })];
    expect(garbage([container('kept', 'live', { sandboxId: 'a' })], sandboxes).sandboxes).toEqual(['b']);
  });

  it('under pressure leaves nothing of pods that have ended', () => {
    const facts = { livePods: new Set(['ended']), endedPods: new Set(['ended']) };
    const [containers, sandboxes] = [[container('dead', 'ended')], [sandbox('s-ended', 'ended')]];
    expect(garbage(containers, sandboxes, facts)).toEqual({ containers: [], sandboxes: [] });
    expect(garbage(containers, sandboxes, { ...facts, isPressing: true })).toEqual({ containers: ['dead'], sandboxes: ['s-ended'] });
  });

  it('ignores sandboxes without a pod', () => {
    expect(garbage([], [sandbox('foreign', undefined)]).sandboxes).toEqual([]);
  });

  it.each([
    ['default_web-0_0a1b2c3d', '0a1b2c3d'],
    ['lost+found', undefined],
    ['a_b', undefined],
  ])('the log directory %s is of %s', (name, uid) => {
    expect(podOfLogDirectory(name)).toBe(uid);
  });
});
