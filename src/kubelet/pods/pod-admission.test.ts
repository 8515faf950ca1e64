import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { admissionProblem } from './pod-admission.ts';

const node: core.Node = { metadata: { name: 'n' }, status: { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } } };
const pod = (spec: Partial<core.PodSpec>): core.Pod => ({
  metadata: { name: 'p', namespace: 'd' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const withProfile = (type: string) => [{ name: 'c', image: 'i', securityContext: { appArmorProfile: { type } } }];

describe('a pod with an AppArmor profile', () => {
  const rejection = { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
  it.each([
    ['RuntimeDefault', withProfile('RuntimeDefault'), rejection],
    ['Localhost', withProfile('Localhost'), rejection],
    ['Unconfined', withProfile('Unconfined'), undefined],
  ])('of type %s on a machine without AppArmor', (_type, containers, expected) => {
    expect(admissionProblem(pod({ containers }), { node, others: [], hasAppArmor: false })).toEqual(expected);
    expect(admissionProblem(pod({ containers }), { node, others: [], hasAppArmor: true })).toBeUndefined();
  });

  it('of the whole pod counts too', () => {
    const securityContext = { appArmorProfile: { type: 'RuntimeDefault' } };
    expect(admissionProblem(pod({ securityContext }), { node, others: [], hasAppArmor: false })).toEqual(rejection);
  });
});

describe('a pod with several problems', () => {
  it('is rejected for its sysctls before its resources', () => {
    const spec = {
      securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }],
    };
    expect(admissionProblem(pod(spec), { node, others: [] })?.reason).toBe('SysctlForbidden');
  });
});

it('says why a pod whose host port is in use is rejected', () => {
  const withPort = pod({ containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8080 }] }] });
  const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  expect(admissionProblem(withPort, { node, others: [withPort] })).toEqual({ reason: 'NodePorts', message });
});

it('says why a pod that does not tolerate a NoExecute taint is rejected', () => {
  const tainted = { ...node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } };
  const message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
  expect(admissionProblem(pod({}), { node: tainted, others: [] })).toEqual({ reason: 'TaintToleration', message });
});

describe('a pod that the node lacks something for', () => {
  const requesting = (requests: Record<string, string>, more: Partial<core.PodSpec> = {}) =>
    pod({ containers: [{ name: 'c', image: 'i', resources: { requests } }], ...more });

  it('is rejected for an extended resource that the node has too few of, not for one that it has none of', () => {
    const extended = { ...node, status: { allocatable: { ...node.status?.allocatable, 'example.com/gpu': '1' } } };
    const two = requesting({ 'example.com/gpu': '2', 'example.com/other': '1' });
    expect(admissionProblem(two, { node: extended, others: [] })).toEqual({
      reason: 'OutOfexample.com/gpu',
      message: "Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1",
    });
    expect(admissionProblem(two, { node: extended, others: [], pluginResources: new Set(['example.com/gpu']) })).toBeUndefined();
    expect(admissionProblem(requesting({ 'example.com/other': '1' }), { node, others: [] })).toBeUndefined();
  });

  it('lacks all of that when it is critical, unless something else keeps it away', () => {
    const critical = requesting({ cpu: '3', memory: '2Gi' }, { priority: 2_000_000_000 });
    const other = requesting({ cpu: '500m' });
    expect(admissionProblem(critical, { node, others: [other] })?.shortages).toEqual([
      { resource: 'cpu', amount: 2500 },
      { resource: 'memory', amount: 1024 ** 3 },
    ]);
    const elsewhere = { ...critical, spec: { ...critical.spec!, nodeSelector: { a: 'b' } } };
    expect(admissionProblem(elsewhere, { node, others: [] })?.reason).toBe('NodeAffinity');
  });

  it('is rejected for a strict policy on groups that the runtime does not have', () => {
    const strict = pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } });
    expect(admissionProblem(strict, { node, others: [] })).toEqual({
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    });
    const able = { ...node, status: { ...node.status, features: { supplementalGroupsPolicy: true } } };
    expect(admissionProblem(strict, { node: able, others: [] })).toBeUndefined();
  });

  it('is rejected for its label of another operating system', () => {
    const labelled = { ...pod({}), metadata: { name: 'p', labels: { 'kubernetes.io/os': 'windows' } } };
    expect(admissionProblem(labelled, { node, others: [] })?.reason).toBe('PodOSSelectorNodeLabelDoesNotMatch');
  });

  it('is not rejected for a taint when it is static', () => {
    const tainted = { ...node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } };
    const fromFile = { ...pod({}), metadata: { name: 'p', annotations: { 'kubernetes.io/config.source': 'file' } } };
    expect(admissionProblem(fromFile, { node: tainted, others: [] })).toBeUndefined();
  });
});
