import { expect, it } from 'vitest';
import { builtInKinds } from './checked-kinds.ts';
import { reconcilePolicy } from './reconcile.ts';

const RULE = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const policy = (expression: string, checkedGeneration?: number) => ({
  metadata: { name: 'p', generation: 2 },
  spec: { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression }] },
  ...(checkedGeneration !== undefined && { status: { observedGeneration: checkedGeneration } }),
});
const reconcile = (observed?: ReturnType<typeof policy>) => reconcilePolicy(observed, builtInKinds);

it('a changed policy gets its type-checking warnings, or an empty list', () => {
  const expressionWarnings = [{ fieldRef: 'spec.validations[0].expression', warning: expect.stringContaining('no matching overload') }];
  expect(reconcile(policy('object.spec.replicas > "1"', 1))).toEqual({ observedGeneration: 2, typeChecking: { expressionWarnings } });
  expect(reconcile(policy('object.spec.replicas > 1'))).toEqual({ observedGeneration: 2, typeChecking: {} });
});

it('a policy is checked once in each generation, and not after it was deleted', () => {
  expect(reconcile(policy('object.spec.replicas > "1"', 2))).toBeUndefined();
  expect(reconcile(undefined)).toBeUndefined();
});
