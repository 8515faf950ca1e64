import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type Level, reasonsText, violationsOf, violationsText } from './evaluate.ts';
import { policyOf } from './namespace-policy.ts';

const SAFE = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

function pod(spec: object, annotations: Record<string, string> = {}) {
  return { annotations, spec: { containers: [{ name: 'c', securityContext: SAFE }], ...spec } as unknown as core.PodSpec };
}

function container(context: object) {
  return { containers: [{ name: 'c', securityContext: { ...SAFE, ...context } }] };
}

function reasons(checked: ReturnType<typeof pod>, level: Level, version = 'latest'): string {
  return reasonsText(violationsOf(checked, { level, version }));
}

describe('pod security standards', () => {
  it.each<[string, object, string]>([
    ['host namespaces', { hostNetwork: true, hostPID: true }, 'host namespaces (hostNetwork=true, hostPID=true)'],
    ['a host path', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "v")'],
    ['privilege', container({ privileged: true }), 'privileged (container "c" must not set securityContext.privileged=true)'],
    [
      'further capabilities',
      container({ capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'BPF'] } }),
      'non-default capabilities (container "c" must not include "BPF", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      'ports of the host',
      {
        containers: [
          { name: 'a', ports: [{ hostPort: 80 }] },
          { name: 'b', ports: [{ hostPort: 80 }, { hostPort: 443 }] },
        ],
      },
      'hostPort (containers "a", "b" use hostPorts 443, 80)',
    ],
    [
      'probes of other hosts',
      { containers: [{ name: 'c', livenessProbe: { httpGet: { host: 'h' } } }] },
      'probe or lifecycle host (container "c" uses probe or lifecycle host "h")',
    ],
    ['sysctls', { securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }, 'forbidden sysctls (kernel.msgmax)'],
    [
      'SELinux options',
      { securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u', role: 'r' } } },
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      'no seccomp',
      { ...container({ seccompProfile: { type: 'Unconfined' } }), securityContext: { seccompProfile: { type: 'Unconfined' } } },
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'host processes of Windows',
      { securityContext: { windowsOptions: { hostProcess: true } } },
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  ])('baseline refuses %s', (_, spec, text) => {
    expect(violationsText(violationsOf(pod(spec), { level: 'baseline', version: 'latest' }))).toBe(text);
    expect(violationsOf(pod(spec), { level: 'privileged', version: 'latest' })).toEqual([]);
  });

  it('refuses AppArmor profiles in fields and annotations', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' };
    const [violation] = violationsOf(pod(container({ appArmorProfile: { type: 'Unconfined' } }), annotations), {
      level: 'baseline',
      version: 'latest',
    });
    expect(violation?.reason).toBe('forbidden AppArmor profiles');
    expect(violation?.detail).toMatch(/^container "c" and annotation must not set AppArmor profile type to "Unconfined", /);
  });

  it('restricted lets in a pod that asks for nothing', () => {
    expect(violationsOf(pod({}), { level: 'restricted', version: 'latest' })).toEqual([]);
  });

  it('restricted tells everything that a plain pod lacks', () => {
    const plain = pod({ containers: [{ name: 'a' }, { name: 'b' }] });
    expect(violationsText(violationsOf(plain, { level: 'restricted', version: 'latest' }))).toBe(
      [
        'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false)',
        'unrestricted capabilities (containers "a", "b" must set securityContext.capabilities.drop=["ALL"])',
        'runAsNonRoot != true (pod or containers "a", "b" must set securityContext.runAsNonRoot=true)',
        'seccompProfile (pod or containers "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ].join(', '),
    );
  });

  it.each<[string, object, string, string]>([
    ['a host path, once', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'latest', 'restricted volume types'],
    ['root', container({ runAsUser: 0 }), 'latest', 'runAsUser=0'],
    ['root in its own user namespace', { ...container({ runAsUser: 0, runAsNonRoot: false }), hostUsers: false }, 'latest', ''],
    ['root in its own user namespace, before that counted', { ...container({ runAsUser: 0 }), hostUsers: false }, 'v1.34', 'runAsUser=0'],
    ['root, before that was looked at', container({ runAsUser: 0 }), 'v1.22', ''],
    ['capabilities kept, before they had to be dropped', container({ capabilities: {} }), 'v1.21', ''],
    [
      'what only Linux has, on Windows',
      { ...container({ capabilities: {}, seccompProfile: undefined }), os: { name: 'windows' } },
      'v1.25',
      '',
    ],
    ['a version that is still to come', container({ runAsUser: 0 }), 'v1.99', 'runAsUser=0'],
  ])('restricted, as it is in the version asked for: %s', (_, spec, version, expected) => {
    expect(reasons(pod(spec), 'restricted', version)).toBe(expected);
  });
});

describe('what a namespace says', () => {
  const label = (name: string) => `pod-security.kubernetes.io/${name}`;

  it('is nothing by default', () => {
    const standard = { level: 'privileged', version: 'latest' };
    expect(policyOf({})).toEqual({ policy: { enforce: standard, audit: standard, warn: standard }, errors: [] });
  });

  it('warns of what it enforces, unless it says otherwise', () => {
    const { policy } = policyOf({ [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.30' });
    expect(policy.warn).toEqual({ level: 'baseline', version: 'v1.30' });
    const quiet = policyOf({ [label('enforce')]: 'baseline', [label('warn')]: 'privileged' });
    expect(quiet.policy.warn.level).toBe('privileged');
  });

  it('is taken at its strictest where a label that enforces makes no sense, and at its mildest elsewhere', () => {
    const { policy, errors } = policyOf({ [label('enforce')]: 'strict', [label('warn')]: 'x', [label('audit-version')]: '1.2' });
    expect([policy.enforce.level, policy.warn.level, policy.audit]).toEqual([
      'restricted',
      'privileged',
      { level: 'privileged', version: 'latest' },
    ]);
    expect(errors.map(({ field }) => field)).toEqual(['enforce', 'audit-version', 'warn'].map((name) => `metadata.labels[${label(name)}]`));
  });
});
