import { describe, expect, test } from 'vitest';
import type { Container } from '../container/container.ts';
import { imageTag } from './image-tag.ts';
import { defaultPod } from './pod.defaults.ts';
import type { Pod } from './pod.ts';
import { computePodQOS } from './pod-qos.ts';
import { defaultPodTemplate } from './pod-spec.defaults.ts';
import type { PodSpec } from './pod-spec.ts';

const C: Container = { name: 'c', image: 'app:1' };
const specOf = (spec: Partial<PodSpec>): PodSpec => {
  const pod = defaultPod({ metadata: { name: 'a' }, spec: { containers: [C], ...spec } });
  return pod.spec as PodSpec;
};
const containerOf = (overrides: Partial<Container>) => specOf({ containers: [{ ...C, ...overrides }] }).containers[0] as Container;

test('a pod has default policies', () => {
  expect(specOf({})).toEqual({
    containers: [
      { ...C, imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
    ],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
  });
});

test('defaulting keeps explicit values, and is idempotent', () => {
  const once = defaultPod({
    metadata: { name: 'a' },
    spec: { containers: [{ ...C, livenessProbe: { grpc: { port: 1 } } }], dnsPolicy: 'None' },
  });
  expect(once.spec?.dnsPolicy).toBe('None');
  expect(defaultPod(once)).toBe(once);
});

test('defaulting does not modify its input', () => {
  const pod: Pod = { metadata: { name: 'a' }, spec: { containers: [C], volumes: [{ name: 'v' }] } };
  const before = JSON.stringify(pod);
  defaultPod(pod);
  expect(JSON.stringify(pod)).toBe(before);
});

describe('containers', () => {
  test('ask for what they are limited to, in pods but not in templates', () => {
    const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } };
    expect(containerOf({ resources }).resources).toEqual({ ...resources, requests: { cpu: '100m', memory: '1Gi' } });
    const template = defaultPodTemplate({ spec: { containers: [{ ...C, resources }] } });
    expect(template.spec?.containers[0]?.resources).toEqual(resources);
    expect(template.spec?.enableServiceLinks).toBeUndefined();
  });

  test('have resources in whole thousandths, rounded up', () => {
    expect(containerOf({ resources: { requests: { cpu: '0.0001' } } }).resources?.requests).toEqual({ cpu: '1m' });
  });

  test('expose their ports by TCP, and on the host where they share its network', () => {
    expect(containerOf({ ports: [{ containerPort: 80 }] }).ports).toEqual([{ containerPort: 80, protocol: 'TCP' }]);
    const shared = specOf({ hostNetwork: true, containers: [{ ...C, ports: [{ containerPort: 80 }] }] });
    expect(shared.containers[0]?.ports).toEqual([{ containerPort: 80, hostPort: 80, protocol: 'TCP' }]);
  });

  test('are probed every ten seconds', () => {
    expect(containerOf({ readinessProbe: { httpGet: { port: 80 } } }).readinessProbe).toEqual({
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
  });
});

test.each<[string, object, object]>([
  ['no source', {}, { emptyDir: {} }],
  ['a host path', { hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
  ['a secret', { secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
  ['an image', { image: { reference: 'x' } }, { image: { reference: 'x', pullPolicy: 'Always' } }],
  [
    'an RBD image',
    { rbd: { monitors: ['m'], image: 'i' } },
    { rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
  ],
  [
    'a token',
    { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    { projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 } },
  ],
])('a volume with %s is completed', (_, volume, expected) => {
  expect(specOf({ volumes: [{ name: 'v', ...volume }] }).volumes).toEqual([{ name: 'v', ...expected }]);
});

test('resources of the pod follow from its limits and its containers', () => {
  const spec = specOf({
    containers: [{ ...C, resources: { requests: { cpu: '100m' } } }],
    initContainers: [
      { ...C, name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '50m' } } },
      { ...C, name: 'i', resources: { requests: { cpu: '500m' } } },
    ],
    resources: { limits: { cpu: '2', memory: '1Gi' } },
  });
  expect(spec.resources?.requests).toEqual({ cpu: '550m', memory: '1Gi' });
});

test('serviceAccount and serviceAccountName default to each other', () => {
  expect(specOf({ serviceAccount: 'x' })).toMatchObject({ serviceAccount: 'x', serviceAccountName: 'x' });
  expect(specOf({ serviceAccount: 'old', serviceAccountName: 'new' })).toMatchObject({ serviceAccount: 'new', serviceAccountName: 'new' });
});

test.each([
  ['app', 'latest'],
  ['app:latest', 'latest'],
  ['app:1.2', '1.2'],
  ['localhost:5000/app', 'latest'],
  ['localhost:5000/team/app:v1', 'v1'],
  ['Registry.example/app:v1', 'v1'],
  [`app@sha256:${'a'.repeat(64)}`, ''],
  [`app:v1@sha256:${'a'.repeat(64)}`, 'v1'],
  ['App:latest', undefined],
  ['x'.repeat(247), 'latest'],
  ['x'.repeat(248), undefined],
  [`team/${'x'.repeat(250)}`, 'latest'],
  [`team/${'x'.repeat(251)}`, undefined],
  ['app:', undefined],
  ['app@sha256:short', undefined],
  ['', undefined],
])('the tag of image %j is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag);
});

test.each<[string, Partial<PodSpec>]>([
  ['BestEffort', { containers: [C] }],
  ['Burstable', { containers: [{ ...C, resources: { requests: { cpu: '1' } } }] }],
  ['Burstable', { containers: [{ ...C, resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }] }],
  [
    'Guaranteed',
    { containers: [{ ...C, resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1000m', memory: '1024Mi' } } }] },
  ],
  ['Guaranteed', { containers: [C], resources: { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } } }],
])('%s is the class of its pods', (expected, spec) => {
  expect(computePodQOS({ containers: [], ...spec })).toBe(expected);
});

test('a negative grace period of a pod, but not of a template, is one second', () => {
  const spec = { containers: [C], terminationGracePeriodSeconds: -1 };
  expect(specOf(spec).terminationGracePeriodSeconds).toBe(1);
  expect(specOf({ terminationGracePeriodSeconds: 0 }).terminationGracePeriodSeconds).toBe(0);
  expect(defaultPodTemplate({ spec }).spec?.terminationGracePeriodSeconds).toBe(-1);
});
