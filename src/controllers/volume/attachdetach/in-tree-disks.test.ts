import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type InTreeDisk, type NodeDisksState, reconcileDisks } from './in-tree-disks.ts';
import { FORCE_DETACH_MS } from './reconcile.ts';

const NAME = 'kubernetes.io/iscsi/10.0.0.1:iqn.2026-01.com.example:disk:3';
const disk = (accessModes: readonly string[] | undefined = ['ReadWriteOnce']): InTreeDisk => ({
  ...{ uniqueName: NAME, specName: 'pv' },
  persistentVolume: { metadata: { name: 'pv' }, spec: { accessModes } } as core.PersistentVolume,
});
const node = (attached: readonly string[], inUse: readonly string[] = [], ready = 'True'): core.Node =>
  ({
    metadata: { name: 'n' },
    status: {
      ...{ conditions: [{ type: 'Ready', status: ready }], volumesInUse: inUse },
      volumesAttached: attached.map((name) => ({ name, devicePath: '' })),
    },
  }) as core.Node;
const plan = (over: Partial<NodeDisksState>) =>
  reconcileDisks({ node: node([]), desired: new Map(), otherNodes: new Map(), unneededSinceMs: new Map(), nowMs: 0, ...over });
const NOTHING = { attached: [], added: [], refused: [], forced: [] };

describe('the disks of a node', () => {
  it('are those that its pods need, and nothing of CSI drivers', () => {
    const desired = new Map([[NAME, disk()]]);
    expect(plan({ desired })).toEqual({ ...NOTHING, attached: [NAME], added: [disk()] });
    expect(plan({ desired, node: node(['kubernetes.io/csi/d^h', NAME]) })).toEqual({ ...NOTHING, attached: [NAME] });
  });

  const otherNodes = new Map([[NAME, ['m']]]);
  it('are not those that another node has and only one may have', () => {
    const refused = [{ disk: disk(), nodes: ['m'] }];
    expect(plan({ desired: new Map([[NAME, disk()]]), otherNodes: otherNodes })).toEqual({ ...NOTHING, refused });
  });

  it.each([
    ['read by many', disk(['ReadOnlyMany'])],
    ['inline in pods', { uniqueName: NAME, specName: 'v' }],
  ])('may be those of another node when they are %s', (_, shared) => {
    expect(plan({ desired: new Map([[NAME, shared]]), otherNodes: otherNodes }).added).toEqual([shared]);
  });

  const OUT_OF_SERVICE = { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] };
  it.each<[string, Partial<NodeDisksState>, Partial<typeof NOTHING>]>([
    ['leave when nothing needs them', { node: node([NAME]) }, {}],
    ['stay while the node uses them', { node: node([NAME], [NAME]), nowMs: FORCE_DETACH_MS }, { attached: [NAME] as never }],
    ['stay less than six minutes', { node: node([NAME], [NAME], 'Unknown'), nowMs: FORCE_DETACH_MS - 1 }, { attached: [NAME] as never }],
    ['leave by force after six minutes', { node: node([NAME], [NAME], 'Unknown'), nowMs: FORCE_DETACH_MS }, { forced: [NAME] as never }],
    [
      'leave at once a node that is out of service',
      { node: { ...node([NAME], [NAME], 'Unknown'), spec: OUT_OF_SERVICE } },
      { forced: [NAME] as never },
    ],
    ['are not given to a node that is deleted', { node: undefined, desired: new Map([[NAME, disk()]]) }, {}],
  ])('%s', (_, over, expected) => {
    expect(plan({ unneededSinceMs: new Map([[NAME, 0]]), ...over })).toEqual({ ...NOTHING, ...expected });
  });
});
