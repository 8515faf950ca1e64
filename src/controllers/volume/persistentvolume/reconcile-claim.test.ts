import { describe, expect, it } from 'vitest';
import type { core, storage } from '#api';
import { claimOf, classOf, volumeOf } from './claims.test-data.ts';
import { type ClaimAction, reconcileClaim } from './reconcile-claim.ts';

interface World {
  readonly volumes?: readonly core.PersistentVolume[];
  readonly classes?: readonly storage.StorageClass[];
  readonly pods?: readonly core.Pod[];
}

function actionOn(claim: core.PersistentVolumeClaim, { volumes = [], classes = [], pods = [] }: World): ClaimAction {
  const volume = (name: string) => volumes.find(({ metadata }) => metadata.name === name);
  return reconcileClaim(claim, { volume, volumes: () => volumes, classes: () => classes, pods: () => pods });
}

const COMPLETED = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
const bound = (volumeName: string) => claimOf({ metadata: COMPLETED, spec: { volumeName } });
const naming = (volumeName: string, metadata = {}) => claimOf({ metadata, spec: { volumeName } });
const boundVolume = volumeOf('a', { spec: { claimRef: { name: 'c', namespace: 'n', uid: 'claim-uid' } } });
const claimedVolume = volumeOf('a', { spec: { claimRef: { name: 'd', namespace: 'n', uid: 'u' } } });
const normal = (reason: string, message: string) => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string) => ({ type: 'Warning', reason, message });

describe('a claim that was bound', () => {
  it.each<[string, core.PersistentVolumeClaim, World, object]>([
    ['stays bound to its volume', bound('a'), { volumes: [boundVolume] }, { type: 'bind', volume: boundVolume }],
    ['is bound again when its volume forgot it', bound('a'), { volumes: [volumeOf('a')] }, { type: 'bind', volume: volumeOf('a') }],
    [
      'is lost when it names no volume',
      bound(''),
      {},
      { type: 'lose', event: warning('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!') },
    ],
    [
      'is lost when its volume is gone',
      bound('a'),
      {},
      { type: 'lose', event: warning('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!') },
    ],
    [
      'is lost when its volume is bound to another',
      bound('a'),
      { volumes: [claimedVolume] },
      { type: 'lose', event: warning('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly') },
    ],
  ])('%s', (_name, claim, world, expected) => {
    expect(actionOn(claim, world)).toEqual(expected);
  });
});

describe('a claim that names a volume', () => {
  const already = warning('FailedBinding', 'volume "a" already bound to a different claim.');
  it.each<[string, core.PersistentVolumeClaim, World, object]>([
    ['waits for it', naming('a'), { volumes: [volumeOf('b')] }, { type: 'wait' }],
    ['is bound to it', naming('a'), { volumes: [volumeOf('a'), volumeOf('b')] }, { type: 'bind', volume: volumeOf('a') }],
    ['is bound to it when it is reserved', naming('a'), { volumes: [boundVolume] }, { type: 'bind', volume: boundVolume }],
    ['waits when another has it', naming('a'), { volumes: [claimedVolume] }, { type: 'wait', event: already }],
    [
      'says why it cannot be bound',
      naming('a'),
      { volumes: [volumeOf('a', { spec: { capacity: { storage: '1Mi' } } })] },
      { type: 'wait', event: warning('VolumeMismatch', 'Cannot bind to requested volume "a": requested PV is too small') },
    ],
  ])('%s', (_name, claim, world, expected) => {
    expect(actionOn(claim, world)).toEqual(expected);
  });

  it('is an error when the controller chose the volume and another has it', () => {
    const claim = naming('a', { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } });
    expect(actionOn(claim, { volumes: [claimedVolume] })).toMatchObject({ type: 'report', event: already, error: expect.any(String) });
  });
});

describe('a claim without a volume', () => {
  const lazy = classOf('slow', { volumeBindingMode: 'WaitForFirstConsumer' });
  const waiting = (name: string, nodeName = ''): core.Pod => ({ metadata: { name }, spec: { containers: [], nodeName } });
  const external = (provisioner: string) =>
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  const classless = claimOf({ spec: { storageClassName: undefined as never } });
  const isDefault = { metadata: { name: 'std', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } };
  it.each<[string, core.PersistentVolumeClaim, World, object]>([
    ['is bound to one that matches', claimOf(), { volumes: [volumeOf('a')] }, { type: 'bind', volume: volumeOf('a') }],
    [
      'waits when it wants no class',
      claimOf({ spec: { storageClassName: '' } }),
      { classes: [classOf('std', isDefault)] },
      { type: 'wait', event: normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set') },
    ],
    [
      'gets the default class when it names none',
      classless,
      { classes: [classOf('std', isDefault)] },
      { type: 'set-class', className: 'std' },
    ],
    [
      'fails to be provisioned without its class',
      claimOf(),
      {},
      { type: 'report', event: warning('ProvisioningFailed', 'storageclass.storage.k8s.io "slow" not found') },
    ],
    [
      'fails to be provisioned by a plugin that is not there',
      claimOf(),
      { classes: [classOf('slow', { provisioner: 'kubernetes.io/glusterfs' })] },
      { type: 'report', event: warning('ProvisioningFailed', 'no volume plugin matched name: kubernetes.io/glusterfs') },
    ],
    [
      'fails to be provisioned by a plugin that makes no volumes',
      claimOf(),
      { classes: [classOf('slow', { provisioner: 'kubernetes.io/nfs' })] },
      { type: 'report', event: warning('ProvisioningFailed', 'no provisionable volume plugin matched') },
    ],
    [
      'fails to be provisioned from paths of hosts, which is switched off',
      claimOf(),
      { classes: [classOf('slow', { provisioner: 'kubernetes.io/host-path' })] },
      {
        type: 'ask-provisioner',
        provisioner: 'kubernetes.io/host-path',
        event: warning(
          'ProvisioningFailed',
          'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
        ),
      },
    ],
    [
      'asks a provisioner',
      claimOf(),
      { classes: [classOf('slow')] },
      { type: 'ask-provisioner', provisioner: 'example.com/disk', event: normal('ExternalProvisioning', external('example.com/disk')) },
    ],
    [
      'asks the driver that replaced a plugin',
      claimOf(),
      { classes: [classOf('slow', { provisioner: 'kubernetes.io/aws-ebs' })] },
      { type: 'ask-provisioner', provisioner: 'ebs.csi.aws.com', event: normal('ExternalProvisioning', external('ebs.csi.aws.com')) },
    ],
    [
      'waits for its first consumer',
      claimOf(),
      { classes: [lazy], volumes: [volumeOf('a')], pods: [waiting('there', 'node')] },
      { type: 'wait', event: normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding') },
    ],
    [
      'waits for its pods to be scheduled',
      claimOf(),
      { classes: [lazy], pods: [waiting('p'), waiting('q')] },
      { type: 'wait', event: normal('WaitForPodScheduled', 'waiting for pods p,q to be scheduled') },
    ],
    [
      'waits for its pod to be scheduled',
      claimOf(),
      { classes: [lazy], pods: [waiting('p'), { ...waiting('q'), status: { phase: 'Failed' } }] },
      { type: 'wait', event: normal('WaitForPodScheduled', 'waiting for pod p to be scheduled') },
    ],
    [
      'is provisioned once the scheduler chose a node',
      claimOf({ metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'x' } } }),
      { classes: [lazy] },
      { type: 'ask-provisioner', provisioner: 'example.com/disk', event: normal('ExternalProvisioning', external('example.com/disk')) },
    ],
  ])('%s', (_name, claim, world, expected) => {
    expect(actionOn(claim, world)).toEqual(expected);
  });

  it('gets the newest of several default classes, then the first by name', () => {
    const defaultClass = (name: string, creationTimestamp: string) =>
      classOf(name, { metadata: { ...isDefault.metadata, name, creationTimestamp } });
    const classes = [
      defaultClass('a', '2026-01-01T00:00:00Z'),
      defaultClass('c', '2026-01-02T00:00:00Z'),
      defaultClass('b', '2026-01-02T00:00:00Z'),
    ];
    expect(actionOn(classless, { classes })).toEqual({ type: 'set-class', className: 'b' });
  });
});
