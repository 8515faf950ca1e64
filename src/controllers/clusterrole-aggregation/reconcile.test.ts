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
    const wanted = aggregate({ to: 'a' }, { to: 'b' });
    const rules = aggregatedRules(wanted, [...roles, wanted]);
    expect(rules).toEqual(['pods', 'nodes', 'secrets', 'events'].map(rule));
    expect(aggregatedRules({ ...wanted, rules: rules! }, roles)).toBeUndefined();
  });

  it('loses its rules when nothing is selected any more', () => {
    expect(aggregatedRules({ ...aggregate({ to: 'nobody' }), rules: [rule('pods')] }, roles)).toEqual([]);
  });

  it('is one that says so', () => {
    expect(aggregatedRules(roles[0]!, roles)).toBeUndefined();
  });
});
