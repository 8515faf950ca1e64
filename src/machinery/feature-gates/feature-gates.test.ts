import { describe, expect, test } from 'vitest';
import { FeatureGates, parseFeatureGates } from './feature-gates.ts';
import { GATE_DEPENDENCIES } from './gate-dependencies.ts';

const NOW = { emulated: '1.36', minCompatibility: '1.35' };
const gates = (text: string, releases = NOW) => new FeatureGates(parseFeatureGates(text), releases);

describe('--feature-gates', () => {
  test.each([
    ['', 'ClusterTrustBundle', false],
    ['', 'MutatingAdmissionPolicy', true],
    ['ClusterTrustBundle=true', 'ClusterTrustBundle', true],
    ['kube:ClusterTrustBundle=t', 'ClusterTrustBundle', true],
    ['AllBeta=true', 'ClusterTrustBundle', true],
    ['AllBeta=true', 'GenericWorkload', false],
    ['AllAlpha=true', 'GenericWorkload', true],
    ['AllAlpha=true,CRIListStreaming=false', 'CRIListStreaming', false],
    ['AllBeta=false', 'StorageVersionHash', false],
  ])('with "%s", %s is %s', (text, name, isEnabled) => {
    expect(gates(text).isEnabled(name)).toBe(isEnabled);
  });

  test.each([
    ['Nonsense=true', 'unrecognized feature gate: Nonsense'],
    ['ClusterTrustBundle', 'missing bool value for ClusterTrustBundle'],
    ['ClusterTrustBundle=yes', 'invalid value of ClusterTrustBundle=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
    ['etcd:ClusterTrustBundle=true', 'component not registered: etcd'],
    ['GangScheduling=true', 'GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]'],
    [
      'APIServerIdentity=false,StorageVersionAPI=true,GracefulNodeShutdown=false',
      '[GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: [GracefulNodeShutdown], StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity]',
    ],
    ['DRAAdminAccess=false', 'cannot set feature gate DRAAdminAccess to false, feature is locked to true'],
  ])('"%s" is refused', (text, message) => {
    expect(() => gates(text)).toThrow(message);
  });

  test('gates of a stage can be turned on together, and every dependency is a gate', () => {
    expect(gates('AllAlpha=true,AllBeta=true').isEnabled('WorkloadAwarePreemption')).toBe(true);
    const names = new Set([...gates('').all()].map(({ name }) => name));
    expect([...GATE_DEPENDENCIES].flat(2).filter((name) => !names.has(name))).toEqual([]);
  });

  test('defaults and stages are those of the release that is emulated', () => {
    const older = { emulated: '1.35', minCompatibility: '1.34' };
    expect(gates('', older).isEnabled('MutatingAdmissionPolicy')).toBe(false);
    expect([...gates('', older).all()].find(({ name }) => name === 'MutatingAdmissionPolicy')?.stage).toBe('Beta');
    expect(() => gates('DRAListTypeAttributes=true', older)).toThrow(
      'cannot set feature gate DRAListTypeAttributes to true, feature is PreAlpha at emulated version 1.35, min compatibility version 1.34',
    );
  });
});
