import { describe, expect, it } from 'vitest';
import { core, type storage } from '#api';
import type { Client } from '#client';
import { SeLinux } from '../volumes/se-linux.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { resolveCsiVolume } from './csi-volume.ts';

const NAMED = [{ name: 'kubernetes.io/csi/d^h', devicePath: '' }];
const ATTACHED = { attached: true, attachmentMetadata: { lun: '3' } };

type Attachment = { readonly metadata?: object; readonly status?: object };

function resolve(volumesAttached: readonly object[], attachment: Attachment, accessModes = ['ReadWriteOnce']) {
  const node = { metadata: { name: 'n' }, status: { volumesAttached } };
  const client = { of: (kind: unknown) => ({ get: async () => (kind === core.Node ? node : { metadata: {}, ...attachment }) }) };
  const drivers = { get: () => ({ name: 'd', hasNodeCapability: async () => false }) };
  const spec = { accessModes, csi: { driver: 'd', volumeHandle: 'h' } };
  const request = {
    spec: { podVolumeName: 'v', name: 'pv', readOnly: false, volume: { name: 'v' }, persistentVolume: { metadata: { name: 'pv' }, spec } },
    ...{ pod: { metadata: { name: 'p', uid: 'u' } } as core.Pod, path: '' },
  };
  const deps = { client: client as unknown as Client, drivers: drivers as unknown as CsiDrivers, nodeName: 'n', seLinux: new SeLinux() };
  return resolveCsiVolume(request as never, {} as storage.CSIDriverSpec, deps);
}

describe('a volume that has to be attached', () => {
  it('is mounted with what the attacher said, when the node’s status names it too', async () => {
    expect((await resolve(NAMED, { status: ATTACHED })).publishContext).toEqual({ lun: '3' });
  });

  it.each([
    ['the node’s status does not name it', [], { status: ATTACHED }, 'volume not attached according to node status'],
    ['the attacher has not answered', NAMED, { status: { attached: false } }, /^MountVolume.WaitForAttach failed .* is not attached yet$/],
    [
      'the attacher failed',
      NAMED,
      { status: { attached: false, attachError: { message: 'no room' } } },
      /WaitForAttach failed .* : no room$/,
    ],
    [
      'it is about to be detached',
      NAMED,
      { metadata: { deletionTimestamp: 'now' }, status: ATTACHED },
      /volume attachment is being deleted$/,
    ],
  ])('is not mounted when %s', async (_, attached, attachment, message) => {
    await expect(resolve(attached, attachment)).rejects.toThrow(message);
  });
});

it.each([
  [['ReadWriteOnce', 'ReadOnlyMany'], 'SINGLE_NODE_WRITER'],
  [['ReadOnlyMany', 'ReadWriteOnce'], 'MULTI_NODE_READER_ONLY'],
  [['ReadWriteOncePod'], 'SINGLE_NODE_WRITER'],
])('a volume with the access modes %j is staged and published with the mode of the first: %s', async (accessModes, mode) => {
  const { capability } = await resolve(NAMED, { status: ATTACHED }, accessModes);
  expect(capability.accessMode).toEqual({ mode });
});
