import { describe, expect, it } from 'vitest';
import type { rbac } from '#api';
import { reconcileBinding, reconcileRole } from './reconcile-role.ts';

const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const nodes = { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] };
const keep = { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } };
const view = { matchLabels: { view: 'true' } };
const edit = { matchLabels: { edit: 'true' } };

function role(rules: readonly rbac.PolicyRule[], overrides: object = {}, aggregated: readonly object[] = []): rbac.ClusterRole {
  const aggregation = aggregated.length > 0 ? { aggregationRule: { clusterRoleSelectors: aggregated } } : {};
  return { metadata: { name: 'r', ...overrides }, rules, ...aggregation } as rbac.ClusterRole;
}

describe('a role', () => {
  it('with additional rules is not changed', () => {
    expect(reconcileRole(role([pods, nodes]), role([pods]))).toEqual({ action: 'none' });
  });

  it('gets missing rules, and keeps additional ones', () => {
    const existing = role([pods], { resourceVersion: '7', labels: { mine: 'x' } });
    const expected = role([nodes], { labels: { mine: 'default', theirs: 'y' } });
    const rules = [pods, { ...nodes, verbs: ['get'] }, { ...nodes, verbs: ['list'] }];
    expect(reconcileRole(existing, expected)).toEqual({
      action: 'update',
      object: role(rules, { resourceVersion: '7', labels: { mine: 'x', theirs: 'y' } }),
    });
  });

  it('with the annotation autoupdate=false is not changed', () => {
    expect(reconcileRole(role([], keep), role([pods]))).toEqual({ action: 'protected' });
    expect(reconcileRole(role([pods], keep), role([pods]))).toEqual({ action: 'none' });
  });

  it('gets the selectors that its aggregation lacks', () => {
    const result = reconcileRole(role([pods], {}, [edit]), role([], {}, [view]));
    expect(result).toEqual({ action: 'update', object: role([pods], {}, [edit, view]) });
  });

  it('loses an aggregation that is not expected at all', () => {
    expect(reconcileRole(role([pods], {}, [edit]), role([pods]))).toEqual({ action: 'update', object: role([pods]) });
  });
});

describe('a binding', () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
  const alice = { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' };
  const bob = { ...alice, name: 'bob' };
  const binding = (subjects: readonly rbac.Subject[], overrides: object = {}, to = 'r'): rbac.ClusterRoleBinding => ({
    metadata: { name: 'b', ...overrides },
    roleRef: { ...roleRef, name: to },
    subjects,
  });

  it('gets the subjects it lacks, and keeps the others', () => {
    expect(reconcileBinding(binding([bob]), binding([alice]))).toEqual({ action: 'update', object: binding([bob, alice]) });
    expect(reconcileBinding(binding([bob, alice]), binding([alice]))).toEqual({ action: 'none' });
  });

  it('of another role is created again, unless it has autoupdate=false', () => {
    const other = binding([bob], { uid: 'u', labels: { a: 'b' } }, 'other');
    expect(reconcileBinding(other, binding([alice]))).toEqual({ action: 'recreate', object: binding([alice], { labels: { a: 'b' } }) });
    expect(reconcileBinding(binding([], keep, 'other'), binding([alice]))).toEqual({ action: 'protected' });
  });
});
