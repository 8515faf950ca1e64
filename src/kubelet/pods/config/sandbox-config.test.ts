import { expect, it } from 'vitest';
import type { core } from '#api';
import { dottedSysctl, sandboxConfig } from './sandbox-config.ts';

const container: core.Container = { name: 'c', image: 'app:1' };
const privileged: core.Container = { name: 'p', image: 'app:1', securityContext: { privileged: true } };

function isPrivileged(spec: core.PodSpec): boolean {
  const pod: core.Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec };
  return sandboxConfig(pod, { attempt: 0, clusterDomain: 'cluster.local' }).linux?.securityContext?.privileged === true;
}

it.each<readonly [string, core.PodSpec, boolean]>([
  ['no privileged container', { containers: [container] }, false],
  ['a privileged container', { containers: [container, privileged] }, true],
  ['a privileged init container', { containers: [container], initContainers: [privileged] }, true],
  ['a privileged ephemeral container', { containers: [container], ephemeralContainers: [privileged] }, true],
])('a sandbox of a pod with %s', (_what, spec, expected) => {
  expect(isPrivileged(spec)).toBe(expected);
});

it('sysctls with slashes are passed to the runtime with dots', () => {
  expect(dottedSysctl('net/ipv4/conf/eth0.1/rp_filter')).toBe('net.ipv4.conf.eth0/1.rp_filter');
  expect(dottedSysctl('kernel.shm_rmid_forced')).toBe('kernel.shm_rmid_forced');
});
