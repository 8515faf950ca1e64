import { describe, expect, it } from 'vitest';
import { countRemaining, type DeletionResult, terminationConditions, terminationEstimate } from './reconcile.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:01:00Z';
const FINE: DeletionResult = { failures: [], remaining: [] };

describe('the conditions of a terminating namespace', () => {
  it('are False without problems', () => {
    expect(terminationConditions([], FINE, NOW).map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered',
      'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions',
      'NamespaceDeletionContentFailure False ContentDeleted',
      'NamespaceContentRemaining False ContentRemoved',
      'NamespaceFinalizersRemaining False ContentHasNoFinalizers',
    ]);
  });

  it('are the very same list when nothing changed, whatever others there are', () => {
    const before = [{ type: 'Mine', status: 'True' }, ...terminationConditions([], FINE, NOW)];
    expect(terminationConditions(before, FINE, LATER)).toBe(before);
  });

  it('count what remains and what holds it, in order of names', () => {
    const remaining = [
      countRemaining({ group: '', resource: 'pods' }, [{ metadata: { finalizers: ['b', 'a'] } }, { metadata: { finalizers: ['a'] } }]),
      countRemaining({ group: 'apps', resource: 'deployments' }, [{ metadata: {} }]),
    ];
    const messages = terminationConditions([], { ...FINE, remaining }, NOW).map(({ message }) => message);
    expect(messages.slice(3)).toEqual([
      'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
      'Some content in the namespace has finalizers remaining: a in 2 resource instances, b in 1 resource instances',
    ]);
  });

  it('report failures', () => {
    const result = { failures: ['z', 'a'], remaining: [], discovery: { message: 'oops', groups: 2 } };
    const [discovery, , content] = terminationConditions([], result, NOW);
    expect(discovery).toMatchObject({
      status: 'True',
      reason: 'DiscoveryFailed',
      message: 'Discovery failed for some groups, 2 failing: oops',
    });
    expect(content).toMatchObject({ reason: 'ContentDeletionFailed', message: 'Failed to delete all resource types, 2 remaining: a, z' });
  });

  it('change their time with their status only', () => {
    const first = terminationConditions([], { ...FINE, failures: ['a'] }, NOW);
    const second = terminationConditions(first, { ...FINE, failures: ['b'] }, LATER);
    const third = terminationConditions(second, FINE, LATER);
    expect([first, second, third].map((list) => list[2]?.lastTransitionTime)).toEqual([NOW, NOW, LATER]);
  });
});

describe('the time that pods may take', () => {
  const pod = (seconds: number, phase: string) => ({
    metadata: { name: 'p' },
    spec: { containers: [], terminationGracePeriodSeconds: seconds },
    status: { phase },
  });
  it.each([
    [[pod(30, 'Running'), pod(60, 'Pending')], 0, 60],
    [[pod(30, 'Running'), pod(60, 'Succeeded')], 0, 30],
    [[pod(30, 'Running')], 30_000, 0],
    [[], 0, 0],
  ])('is the longest of those that run, until it has passed (case %#)', (pods, deletedForMs, seconds) => {
    expect(terminationEstimate(pods, deletedForMs)).toBe(seconds);
  });
});
