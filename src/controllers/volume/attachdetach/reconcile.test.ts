import { describe, expect, it } from 'vitest';
import type { core, storage } from '#api';
import { type AttachableVolume, attachedVolumes, FORCE_DETACH_MS, type NodeVolumesState, reconcileAttachments } from './reconcile.ts';

const volume = (accessModes = ['ReadWriteOnce']): AttachableVolume => ({
  volume: { metadata: { name: 'pv' }, spec: { accessModes } } as core.PersistentVolume,
  driver: 'd',
  handle: 'h',
});
const NAME = `csi-${'0'.repeat(64)}`;
const attachment = (attached = true): storage.VolumeAttachment => ({
  metadata: { name: NAME, annotations: { 'sampan.dev/volume-handle': 'h' } },
  spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
  status: { attached },
});
const node = (over: object = {}, ready = 'True'): core.Node =>
  ({ metadata: { name: 'n' }, status: { conditions: [{ type: 'Ready', status: ready }], ...over } }) as core.Node;
const state = (over: Partial<NodeVolumesState> = {}): NodeVolumesState => ({
  ...{ nodeName: 'n', node: node(), desired: new Map(), attachments: [], otherNodes: new Map(), unneededSinceMs: new Map(), nowMs: 0 },
  volumeNamed: () => undefined,
  ...over,
});
const DESIRED = new Map([['pv', volume()]]);
const IN_USE = { volumesInUse: ['kubernetes.io/csi/d^h'] };

describe('the attachments of a node', () => {
  it('are made for what its pods need, once', () => {
    const expected = { spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } } };
    expect(reconcileAttachments(state({ desired: DESIRED }))).toMatchObject([{ type: 'attach', attachment: expected }]);
    expect(reconcileAttachments(state({ desired: DESIRED, attachments: [attachment()] }))).toEqual([]);
  });

  it('are not made while another node has a volume that only one may have', () => {
    const otherNodes = new Map([['pv', ['m']]]);
    expect(reconcileAttachments(state({ desired: DESIRED, otherNodes: otherNodes }))).toEqual([
      { type: 'multi-attach', volumeName: 'pv', nodes: ['m'] },
    ]);
    const shared = new Map([['pv', volume(['ReadWriteMany'])]]);
    expect(reconcileAttachments(state({ desired: shared, otherNodes: otherNodes }))).toMatchObject([{ type: 'attach' }]);
  });

  const detach = (isForced: boolean) => [{ type: 'detach', name: NAME, isForced }];
  it.each<[string, Partial<NodeVolumesState>, object[]]>([
    ['go when nothing needs them', {}, detach(false)],
    ['stay while the node has the volume mounted', { node: node(IN_USE) }, []],
    ['stay while a node that is not ready may have it mounted', { node: node(IN_USE, 'Unknown'), nowMs: FORCE_DETACH_MS - 1 }, []],
    ['go by force after six minutes', { node: node(IN_USE, 'Unknown'), nowMs: FORCE_DETACH_MS }, detach(true)],
    ['do not go by force while the node is ready', { node: node(IN_USE), nowMs: 10 * FORCE_DETACH_MS }, []],
    [
      'go at once when the node is out of service',
      { node: { ...node(IN_USE, 'Unknown'), spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } } },
      detach(true),
    ],
    ['go with the node', { node: undefined }, detach(false)],
  ])('%s', (_name, over, expected) => {
    expect(reconcileAttachments(state({ attachments: [attachment()], unneededSinceMs: new Map([[NAME, 0]]), ...over }))).toEqual(expected);
  });

  it('are in its status when they are attached', () => {
    expect(attachedVolumes([attachment(), attachment(false)], () => undefined)).toEqual([
      { name: 'kubernetes.io/csi/d^h', devicePath: '' },
    ]);
  });

  it('are in its status and can be detached when another controller made them', () => {
    const { annotations: _, ...metadata } = attachment().metadata;
    const foreign = { ...attachment(), metadata };
    const pv = { metadata: { name: 'pv' }, spec: { csi: { driver: 'd', volumeHandle: 'h' } } } as core.PersistentVolume;
    expect(attachedVolumes([foreign], () => pv)).toEqual([{ name: 'kubernetes.io/csi/d^h', devicePath: '' }]);
    expect(reconcileAttachments(state({ attachments: [foreign], volumeNamed: () => pv }))).toEqual(detach(false));
    expect(reconcileAttachments(state({ attachments: [foreign], volumeNamed: () => pv, node: node(IN_USE) }))).toEqual([]);
  });
});
