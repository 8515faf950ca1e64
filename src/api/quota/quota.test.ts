import { describe, expect, it } from 'vitest';
import type { Pod } from '../core/v1/pod/pod.ts';
import { listOfAmounts } from './amounts.ts';
import { calculateUsage } from './calculate-usage.ts';
import { deviceClaimEvaluator, volumeClaimEvaluator } from './claim-evaluators.ts';
import type { Countable, QuotaEvaluator } from './evaluator.ts';
import { objectCountEvaluator } from './object-count-evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import { podLimits, podRequests } from './pod-resources.ts';
import { serviceEvaluator } from './service-evaluator.ts';

const NOW = Date.UTC(2026, 0, 1);
const container = (name: string, requests: Record<string, string>, limits: Record<string, string> = {}) => ({
  name,
  resources: { requests, limits },
});
const pod = (spec: object = {}, overrides: object = {}): Pod =>
  ({ metadata: { name: 'p' }, spec: { containers: [container('c', { cpu: '100m' })], ...spec }, ...overrides }) as Pod;

function used(hard: Record<string, string>, objects: readonly object[], evaluator: unknown, spec: object = {}): unknown {
  const evaluators = [evaluator as QuotaEvaluator];
  return listOfAmounts(calculateUsage({ spec: { hard, ...spec }, evaluators, objects: () => objects as readonly Countable[], now: NOW }));
}

describe('what a pod asks for', () => {
  it.each<[string, object, Record<string, string>]>([
    [
      'is the sum of its containers',
      { containers: [container('a', { cpu: '1' }), container('b', { cpu: '500m', memory: '1Gi' })] },
      { cpu: '1500m', memory: '1Gi' },
    ],
    ['is at least what initialisation needs', { initContainers: [container('i', { cpu: '2' })] }, { cpu: '2' }],
    [
      'includes sidecars',
      { initContainers: [{ ...container('s', { cpu: '1' }), restartPolicy: 'Always' }, container('i', { cpu: '1' })] },
      { cpu: '2' },
    ],
    ['is what the pod as a whole says', { resources: { requests: { cpu: '3' } } }, { cpu: '3' }],
    ['includes overhead', { overhead: { cpu: '10m', memory: '1Mi' } }, { cpu: '110m', memory: '1Mi' }],
  ])('%s', (_, spec, expected) => {
    expect(listOfAmounts(podRequests(pod(spec)))).toEqual(expected);
  });

  it('counts a resize under way at its larger end, and one that cannot be at what there is', () => {
    const status = { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '1' } }] };
    const infeasible = { ...status, conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };
    const requested = { containers: [container('c', { cpu: '5' })] };
    expect(listOfAmounts(podRequests(pod(requested, { status })))).toEqual({ cpu: '5' });
    expect(listOfAmounts(podRequests(pod(requested, { status: infeasible })))).toEqual({ cpu: '2' });
  });

  it('adds overhead only to limits that there are', () => {
    const spec = { containers: [container('c', {}, { cpu: '1' })], overhead: { cpu: '1', memory: '1Mi' } };
    expect(listOfAmounts(podLimits(pod(spec)))).toEqual({ cpu: '2' });
  });
});

describe('what quotas count of pods', () => {
  const hard = {
    pods: '9',
    'count/pods': '9',
    cpu: '9',
    'requests.cpu': '9',
    'limits.memory': '9',
    'requests.example.com/gpu': '9',
    'hugepages-2Mi': '9',
  };

  it('is everything that they ask for, under each of its names', () => {
    const sample = pod({ containers: [container('c', { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, { memory: '1Gi' })] });
    expect(used(hard, [sample, pod()], podEvaluator)).toEqual({
      pods: '2',
      'count/pods': '2',
      cpu: '1100m',
      'requests.cpu': '1100m',
      'limits.memory': '1Gi',
      'requests.example.com/gpu': '2',
      'hugepages-2Mi': '4Mi',
    });
  });

  it.each([
    ['have succeeded', { status: { phase: 'Succeeded' } }],
    ['have failed', { status: { phase: 'Failed' } }],
    ['should have ended by now', { metadata: { name: 'p', deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } }],
  ])('is only their number when they %s', (_, overrides) => {
    expect(used({ pods: '9', 'count/pods': '9', cpu: '9' }, [pod({}, overrides)], podEvaluator)).toEqual({
      pods: '0',
      'count/pods': '1',
      cpu: '0',
    });
  });

  const deadline = pod({ activeDeadlineSeconds: 5 });
  const bestEffort = pod({ containers: [container('c', {})] });
  const high = pod({ priorityClassName: 'high' });
  const affine = pod({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'x', namespaces: ['y'] }] } },
  });
  const all = [deadline, bestEffort, high, affine];
  const selector = (operator: string, values?: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }] },
  });
  it.each([
    ['Terminating', { scopes: ['Terminating'] }, '1'],
    ['NotTerminating', { scopes: ['NotTerminating'] }, '3'],
    ['BestEffort', { scopes: ['BestEffort'] }, '1'],
    ['NotBestEffort and NotTerminating', { scopes: ['NotBestEffort', 'NotTerminating'] }, '2'],
    ['CrossNamespacePodAffinity', { scopes: ['CrossNamespacePodAffinity'] }, '1'],
    ['PriorityClass in high', selector('In', ['high']), '1'],
    ['PriorityClass not in high', selector('NotIn', ['high']), '3'],
    ['any PriorityClass', selector('Exists'), '1'],
    ['no PriorityClass', selector('DoesNotExist'), '3'],
    ['an unknown scope', { scopes: ['Nope'] }, '0'],
  ])('is restricted by scope %s', (_, spec, count) => {
    expect(used({ pods: '9' }, all, podEvaluator, spec)).toEqual({ pods: count });
  });

  it('changes when a pod ends, is resized or gets a deadline, not when it runs', () => {
    const running = pod({}, { status: { phase: 'Running' } });
    const resized = (cpu: string) => pod({}, { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu } } }] } });
    const changes = (before: Pod, after: Pod) => podEvaluator.changesUsage(before, after, NOW);
    expect(changes(pod(), running)).toBe(false);
    expect(changes(running, pod({}, { status: { phase: 'Failed' } }))).toBe(true);
    expect(changes(resized('1'), resized('2'))).toBe(true);
    expect(changes(pod(), deadline)).toBe(true);
  });
});

describe('what quotas count of services', () => {
  const hard = { services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9', 'count/services': '9' };
  const service = (type: string, overrides: object = {}) => ({
    metadata: { name: 's' },
    spec: { type, ports: [{ port: 1 }, { port: 2, nodePort: 30000 }], ...overrides },
  });
  it.each([
    ['ClusterIP', {}, '0', '0'],
    ['NodePort', {}, '2', '0'],
    ['LoadBalancer', {}, '2', '1'],
    ['LoadBalancer', { allocateLoadBalancerNodePorts: false }, '1', '1'],
  ])('depends on the type %s %j', (type, overrides, ports, balancers) => {
    expect(used(hard, [service(type, overrides)], serviceEvaluator)).toEqual({
      services: '1',
      'count/services': '1',
      'services.nodeports': ports,
      'services.loadbalancers': balancers,
    });
  });
});

describe('what quotas count of claims', () => {
  it('is storage in all and by class, at what was allocated when that is more', () => {
    const claim = (storageClassName: string | undefined, storage: string, allocated?: string) => ({
      metadata: { name: 'c' },
      spec: { ...(storageClassName && { storageClassName }), resources: { requests: { storage } } },
      status: allocated ? { allocatedResources: { storage: allocated } } : {},
    });
    const hard = {
      persistentvolumeclaims: '9',
      'requests.storage': '9',
      'gold.storageclass.storage.k8s.io/requests.storage': '9',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '9',
    };
    expect(used(hard, [claim('gold', '1Gi', '2Gi'), claim(undefined, '1Gi')], volumeClaimEvaluator)).toEqual({
      persistentvolumeclaims: '2',
      'requests.storage': '3Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    });
  });

  it('is devices by class, the dearest of alternatives, without what the pod counts for', () => {
    const requests = [
      { name: 'a', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
      {
        name: 'b',
        firstAvailable: [
          { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
          { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 },
        ],
      },
      { name: 'c', exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
    ];
    const claim = { metadata: { name: 'c' }, spec: { devices: { requests } } };
    const evaluator = (counted: Record<string, number>) =>
      deviceClaimEvaluator({
        extendedResourceOf: (name) => (name === 'gpu' ? 'example.com/gpu' : undefined),
        deviceClassOf: (name) => (name === 'example.com/gpu' ? 'gpu' : undefined),
        podUsageFor: () =>
          counted.gpu
            ? podEvaluator.usage(pod({ containers: [container('c', { 'example.com/gpu': String(counted.gpu) })] }), NOW)
            : undefined,
      });
    const hard = {
      'gpu.deviceclass.resource.k8s.io/devices': '9',
      'nic.deviceclass.resource.k8s.io/devices': '99',
      'requests.example.com/gpu': '9',
    };
    expect(used(hard, [claim], evaluator({}))).toEqual({
      'gpu.deviceclass.resource.k8s.io/devices': '5',
      'nic.deviceclass.resource.k8s.io/devices': '32',
      'requests.example.com/gpu': '5',
    });
    expect(used(hard, [claim], evaluator({ gpu: 4 }))).toMatchObject({ 'requests.example.com/gpu': '1' });
  });
});

describe('what quotas count of anything else', () => {
  it.each([
    [
      { group: '', resource: 'configmaps' },
      { configmaps: '2', 'count/configmaps': '2' },
    ],
    [{ group: 'apps', resource: 'deployments' }, { 'count/deployments.apps': '2' }],
  ])('is its number: %j', (resource, expected) => {
    const names = { configmaps: '9', 'count/configmaps': '9', 'count/deployments.apps': '9', 'count/secrets': '9' };
    expect(used(names, [{ metadata: {} }, { metadata: {} }], objectCountEvaluator(resource))).toEqual(expected);
  });
});
