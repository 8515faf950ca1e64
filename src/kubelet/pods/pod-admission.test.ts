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
