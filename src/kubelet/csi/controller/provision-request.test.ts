import { describe, expect, it } from 'vitest';
import { modifySecret, persistentVolume, provisionRequest } from './provision-request.ts';
import type { SidecarFlags } from './sidecar-flags.ts';

const PREFIX = 'csi.storage.k8s.io';
const FLAGS = { strictTopology: false, immediateTopology: true, extraCreateMetadata: false, defaultFsType: 'ext4' };
const request = (spec: object = {}, parameters: Readonly<Record<string, string>> = {}, flags: Partial<SidecarFlags> = {}) =>
  provisionRequest(
    { metadata: { name: 'c', namespace: 'n', uid: 'u' }, spec: { accessModes: ['ReadWriteOnce'], ...spec } },
    { metadata: { name: 'fast' }, provisioner: 'disk.example.com', parameters },
    { knowsSingleNodeModes: false, flags: { ...FLAGS, ...flags } },
  );
const provisioned = { driverName: 'disk.example.com', volumeId: 'v', capacityBytes: 1, volumeContext: {}, topologies: [] };

describe('what is asked of a driver for a claim', () => {
  it('is one capability for each access mode', () => {
    const { volumeCapabilities } = request({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] });
    const modes = volumeCapabilities.map(({ accessMode }) => accessMode?.mode);
    expect(modes).toEqual(['SINGLE_NODE_WRITER', 'MULTI_NODE_READER_ONLY', 'MULTI_NODE_MULTI_WRITER']);
  });

  it.each([
    [{}, 'ext4'],
    [{ [`${PREFIX}/fstype`]: 'xfs' }, 'xfs'],
    [{ fsType: 'btrfs' }, 'btrfs'],
  ])('is with the parameters %j the file system %s', (parameters, fsType) => {
    expect(request({}, parameters).fsType).toBe(fsType);
  });

  it('leaves the choice of a file system to a driver whose CSIDriver says so', () => {
    expect(request({}, {}, { defaultFsType: '' }).fsType).toBe('');
  });

  it('has the names of claim and volume for a driver whose CSIDriver asks for them', () => {
    expect(request({}, { type: 'ssd' }, { extraCreateMetadata: true }).parameters).toEqual({
      ...{ type: 'ssd', [`${PREFIX}/pvc/name`]: 'c', [`${PREFIX}/pvc/namespace`]: 'n', [`${PREFIX}/pv/name`]: 'pvc-u' },
    });
  });

  it('has the parameters of the class without those for the provisioner', () => {
    const own = { [`${PREFIX}/fstype`]: 'xfs', [`${PREFIX}/secret-name`]: 's', [`${PREFIX}/secret-namespace`]: 'n' };
    expect(request({}, { ...own, type: 'ssd' }).parameters).toEqual({ type: 'ssd' });
  });

  it.each([
    ['a selector', { selector: { matchLabels: { a: 'b' } } }, {}, 'claim Selector is not supported'],
    [
      'two file systems',
      {},
      { fstype: 'xfs', [`${PREFIX}/fstype`]: 'xfs' },
      'fstype specified in parameters with both "fstype" and "csi.storage.k8s.io/fstype" keys',
    ],
    [
      'an unknown reserved parameter',
      {},
      { [`${PREFIX}/colour`]: 'red' },
      'failed to strip CSI Parameters of prefixed keys: found unknown parameter key "csi.storage.k8s.io/colour" with reserved namespace csi.storage.k8s.io/',
    ],
  ])('is nothing for a claim with %s', (_, spec, parameters, message) => {
    expect(() => request(spec, parameters)).toThrow(message);
  });
});

describe('the volume of a claim', () => {
  it('says that its deletion needs no secret', () => {
    expect(persistentVolume(request(), provisioned).metadata.annotations).toEqual({
      'pv.kubernetes.io/provisioned-by': 'disk.example.com',
      'volume.kubernetes.io/provisioner-deletion-secret-name': '',
      'volume.kubernetes.io/provisioner-deletion-secret-namespace': '',
    });
  });

  it('names the secret for its modification', () => {
    const parameters = { [`${PREFIX}/controller-modify-secret-name`]: 's', [`${PREFIX}/controller-modify-secret-namespace`]: 'n' };
    expect(modifySecret(persistentVolume(request({}, parameters), provisioned))).toEqual({ name: 's', namespace: 'n' });
  });
});
