import { describe, expect, it } from 'vitest';
import type { rbac } from '#api';
import { aggregatedRules } from './reconcile.ts';

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): rbac.ClusterRole => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});
const aggregate = (...selectors: Record<string, string>[]): rbac.ClusterRole => ({
  metadata: { name: 'all', labels: { to: 'a' } },
  aggregationRule: { clusterRoleSelectors: selectors.map((matchLabels) => ({ matchLabels })) },
  rules: [],
});

describe('an aggregated role', () => {
  const roles = [role('z', { to: 'a' }, 'pods', 'secrets'), role('b', { to: 'a' }, 'pods', 'nodes'), role('c', { to: 'b' }, 'events')];

  it('has the rules of those it selects, in order of names, each once, and never its own', () => {
    const role = aggregate({ to: 'a' }, { to: 'b' });
    const rules = aggregatedRules(role, [...roles, role]);
    expect(rules).toEqual(['pods', 'nodes', 'secrets', 'events'].map(rule));
    expect(aggregatedRules({ ...role, rules: rules! }, roles)).toBeUndefined();
  });

  it('loses its rules when nothing is selected any more', () => {
    expect(aggregatedRules({ ...aggregate({ to: 'nobody' }), rules: [rule('pods')] }, roles)).toEqual([]);
  });

  it('has an aggregationRule', () => {
    expect(aggregatedRules(roles[0]!, roles)).toBeUndefined();
  });

  it('includes the future rules of selected aggregated roles', () => {
    const label = (to: string) => ({ [`to-${to}`]: 'true' });
    const clusterRole = (name: string, from: string, labels: Record<string, string>, rules: rbac.PolicyRule[] = []): rbac.ClusterRole => ({
      metadata: { name, labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(from) }] },
      rules,
    });
    const view = clusterRole('view', 'view', label('edit'));
    const edit = clusterRole('edit', 'edit', label('admin'));
    const admin = clusterRole('admin', 'admin', {});
    const parts = [role('p1', label('view'), 'pods'), role('p2', label('edit'), 'secrets'), role('p3', label('admin'), 'nodes')];
    const all = [admin, edit, view, ...parts];
    expect(aggregatedRules(view, all)).toEqual([rule('pods')]);
    expect(aggregatedRules(edit, all)).toEqual(['secrets', 'pods'].map(rule));
    expect(aggregatedRules(admin, all)).toEqual(['secrets', 'pods', 'nodes'].map(rule));
  });

  it('may be part of a circle, in which rules go round', () => {
    const circular = (name: string, from: string, resource: string): rbac.ClusterRole => ({
      metadata: { name, labels: { in: name } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { in: from } }] },
      rules: [rule(resource)],
    });
    const [a, b] = [circular('a', 'b', 'pods'), circular('b', 'a', 'nodes')];
    expect(aggregatedRules(a, [a, b])).toBeUndefined();
    expect(aggregatedRules(b, [a, b])).toBeUndefined();
  });

  it('is computed quickly when many roles select each other', () => {
    const mesh = Array.from({ length: 40 }, (_, i) => ({ ...aggregate({ to: 'a' }), metadata: { name: `m${i}`, labels: { to: 'a' } } }));
    expect(aggregatedRules(mesh[0]!, [...mesh, ...roles])).toEqual(['pods', 'nodes', 'secrets'].map(rule));
  });
});
