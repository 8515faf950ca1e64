import { expect, test } from 'vitest';
import { Path } from '#machinery';
import type { Container } from '../container/container.ts';
import { incomingPodWarnings, podTemplateWarnings, podWarnings } from './pod.warnings.ts';
import type { PodSpec } from './pod-spec.ts';

const C: Container = { name: 'c', image: 'x' };
const warnings = (spec: Partial<PodSpec>, annotations?: Record<string, string>) =>
  podWarnings({ metadata: { name: 'a', ...(annotations && { annotations }) }, spec: { containers: [C], ...spec } });

test('a pod without deprecated fields has no warnings', () => {
  expect(warnings({})).toEqual([]);
});

test.each<[string, Partial<PodSpec>, readonly string[]]>([
  [
    'a label of nodes that is going away',
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'a repository as volume',
    { volumes: [{ name: 'v', gitRepo: { repository: 'x' } }] },
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  [
    'half a byte',
    { containers: [{ ...C, resources: { limits: { memory: '500m' } } }] },
    ['spec.containers[0].resources.limits[memory]: fractional byte value "500m" is invalid, must be an integer'],
  ],
  [
    'a variable twice',
    {
      containers: [
        {
          ...C,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
            { name: 'A', value: '$(A)3' },
          ],
        },
      ],
    },
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    'a port twice',
    {
      containers: [
        {
          ...C,
          ports: [
            { containerPort: 80, protocol: 'TCP' },
            { containerPort: 80, protocol: 'TCP' },
          ],
        },
      ],
    },
    ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    'a port name twice in one pod',
    {
      containers: [
        { ...C, ports: [{ name: 'p', containerPort: 80 }] },
        { ...C, name: 'd', ports: [{ name: 'p', containerPort: 81 }] },
      ],
    },
    [
      'spec.containers[1].ports[0]: duplicate port name "p" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
  ],
  [
    'an affinity to no pod',
    { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] } } },
    [
      'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
    ],
  ],
  [
    'a negative grace period',
    { terminationGracePeriodSeconds: -1 },
    ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
  ],
  [
    'paths that hide each other',
    {
      volumes: [
        {
          name: 'v',
          configMap: {
            name: 'm',
            items: [
              { key: 'a', path: 'x' },
              { key: 'b', path: 'x/y' },
            ],
          },
        },
      ],
    },
    ['volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"'],
  ],
])('%s draws a warning', (_, spec, expected) => {
  expect(warnings(spec)).toEqual(expected);
});

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/c';
const USE_FIELD = `metadata.annotations[${APPARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
const SECCOMP_POD = 'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]';

test('a deprecated annotation has a warning', () => {
  expect(warnings({}, { [APPARMOR]: 'unconfined', 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' })).toEqual([
    `${SECCOMP_POD}: non-functional in v1.27+; use the "seccompProfile" field instead`,
  ]);
});

test.each<[string, Partial<PodSpec>, string, readonly string[]]>([
  ['becomes a field', {}, 'unconfined', [USE_FIELD]],
  ['names nothing', {}, 'nonsense', [USE_FIELD]],
  ['stands beside its field', { containers: [{ ...C, securityContext: { appArmorProfile: { type: 'Unconfined' } } }] }, 'unconfined', []],
  ['says what the pod says', { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, 'runtime/default', []],
  ['is of no use to the system', { os: { name: 'windows' } }, 'unconfined', []],
])('an AppArmor annotation that %s', (_, spec, profile, expected) => {
  const metadata = { name: 'a', annotations: { [APPARMOR]: profile } };
  expect(incomingPodWarnings({ metadata, spec: { containers: [C], ...spec } })).toEqual(expected);
});

test('warnings of a pod template are in container order', () => {
  const c = { ...C, resources: { limits: { memory: '1m' } } };
  const metadata = { annotations: { [APPARMOR]: 'unconfined', 'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined' } };
  expect(podTemplateWarnings({ metadata, spec: { containers: [c] } }, Path.of('template'))).toEqual([
    'template.metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead',
    `template.${USE_FIELD}`,
    'template.spec.containers[0].resources.limits[memory]: fractional byte value "1m" is invalid, must be an integer',
  ]);
});
