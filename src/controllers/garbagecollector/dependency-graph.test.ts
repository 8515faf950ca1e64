import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockingDependents, DependencyGraph, identityKey, type ObjectIdentity } from './dependency-graph.ts';
import { reconcileOwned, reconcileWaiting } from './reconcile.ts';

const identity = (name: string, overrides: Partial<ObjectIdentity> = {}): ObjectIdentity => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'x',
  name,
  uid: name,
  ...overrides,
});
const ownedBy = (...names: string[]) => ({
  ownerReferences: names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, blockOwnerDeletion: true })),
});
const deleting = (finalizer: string) => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] });

function graph() {
  const collected: string[] = [];
  const orphaned: string[] = [];
  const reported: string[] = [];
  const dependencyGraph = new DependencyGraph({
    collect: (uid) => collected.push(uid),
    orphan: (uid) => orphaned.push(uid),
    invalidNamespace: (node, reference) => reported.push(`${node.identity.name} to ${reference.name}`),
  });
  return { graph: dependencyGraph, collected, orphaned, reported, take: () => collected.splice(0) };
}

describe('the graph of owners', () => {
  it('enqueues dependents of a deleted owner, and caches its absence', () => {
    const { graph: g, take } = graph();
    g.observed(identity('owner'), {});
    g.observed(identity('a'), ownedBy('owner'));
    expect(take()).toEqual([]);
    g.deleted(identity('owner'));
    expect(take()).toEqual(['a']);
    expect(g.absent.get(identityKey(identity('owner')))).toBe(true);
  });

  it('looks up owners that were not observed, until they are', () => {
    const { graph: g, take } = graph();
    g.observed(identity('a'), ownedBy('owner'));
    expect(take()).toEqual(['owner']);
    expect(g.get('owner')?.isVirtual).toBe(true);
    g.observed(identity('owner'), {});
    expect(g.get('owner')?.isVirtual).toBe(false);
    expect(take()).toEqual([]);
  });

  it('looks at dependents of an owner that never was', () => {
    const { graph: g, take } = graph();
    g.observed(identity('a'), ownedBy('owner'));
    take();
    g.notFound(identity('owner'));
    expect(take()).toEqual(['a']);
    expect(g.get('owner')).toBeUndefined();
  });

  it('does not take an owner for gone because one dependent gives it other coordinates', () => {
    const { graph: g, take } = graph();
    g.observed(identity('owner'), {});
    const wrong = { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: 'owner' }] };
    g.observed(identity('bad'), wrong);
    g.observed(identity('good'), ownedBy('owner'));
    expect(take()).toEqual(['bad']);
    g.notFound(identity('owner', { kind: 'Secret' }));
    expect(take()).toEqual(['bad']);
    expect(g.get('owner')).toBeDefined();
  });

  it('tries every identity that dependents give an owner before it takes it for gone', () => {
    const { graph: g, take } = graph();
    g.observed(identity('a'), ownedBy('owner'));
    g.observed(identity('b'), { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: 'owner' }] });
    take();
    g.notFound(identity('owner'));
    expect(g.get('owner')?.identity.kind).toBe('Secret');
    expect(take()).toEqual(['a', 'owner']);
    g.notFound(identity('owner', { kind: 'Secret' }));
    expect(take()).toContain('b');
  });

  it('reports owners in another namespace, whichever is seen first', () => {
    const { graph: g, reported, take } = graph();
    g.observed(identity('early'), ownedBy('owner'));
    g.observed(identity('owner', { namespace: 'y' }), {});
    g.observed(identity('late'), ownedBy('owner'));
    expect(reported).toEqual(['early to owner', 'late to owner']);
    expect(take()).toEqual(['owner', 'early', 'late']);
  });

  it('follows changes of owners, and frees owners that wait', () => {
    const { graph: g, take } = graph();
    g.observed(identity('one'), {});
    g.observed(identity('two'), {});
    g.observed(identity('a'), ownedBy('one'));
    g.observed(identity('a'), ownedBy('two'), ownedBy('one'));
    expect(take()).toEqual(['one']);
    expect([...g.get('one')!.dependents]).toEqual([]);
    expect([...g.get('two')!.dependents].map((node) => node.identity.name)).toEqual(['a']);
  });

  it('begins foreground and orphaning deletions once', () => {
    const { graph: g, take, orphaned } = graph();
    g.observed(identity('owner'), {});
    g.observed(identity('a'), ownedBy('owner'));
    g.observed(identity('owner'), deleting('foregroundDeletion'), {});
    expect(take()).toEqual(['a', 'owner']);
    g.observed(identity('owner'), deleting('foregroundDeletion'), deleting('foregroundDeletion'));
    expect(take()).toEqual([]);
    g.deleted(identity('a'));
    expect(take()).toEqual(['owner']);
    g.observed(identity('b'), {});
    g.observed(identity('b'), deleting('orphan'), {});
    expect(orphaned).toEqual(['b']);
  });

  it('always knows the dependents that the objects it was shown name', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const step = fc.record({ name, owners: fc.uniqueArray(name, { maxLength: 3 }), gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { graph: g } = graph();
        const model = new Map<string, readonly string[]>();
        const dead = new Set<string>();
        for (const { name: nodeName, owners, gone: isGone } of steps) {
          // A uid never comes back.
          if (dead.has(nodeName)) continue;
          if (isGone) dead.add(nodeName);
          if (isGone) g.deleted(identity(nodeName));
          else g.observed(identity(nodeName), ownedBy(...owners));
          if (isGone) model.delete(nodeName);
          else model.set(nodeName, owners);
        }
        for (const owner of model.keys()) {
          const expected = [...model].filter(([, owners]) => owners.includes(owner)).map(([dependent]) => dependent);
          expect([...g.get(owner)!.dependents].map((node) => node.identity.name).sort()).toEqual(expected.sort());
        }
      }),
    );
  });
});

describe('what to do with an object that may be garbage', () => {
  function node(...dependents: { deleting: boolean; blocks: boolean }[]) {
    const { graph: g } = graph();
    g.observed(identity('n'), {});
    dependents.forEach(({ deleting: isDeleting, blocks }, i) => {
      const reference = { ...ownedBy('n').ownerReferences[0]!, blockOwnerDeletion: blocks };
      g.observed(identity(`d${i}`), { ownerReferences: [reference], ...(isDeleting && deleting('foregroundDeletion')) });
    });
    return g.get('n')!;
  }
  const reference = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid });
  const references = (solid: string[], dangling: string[], waiting: string[]) => ({
    solid: solid.map(reference),
    dangling: dangling.map(reference),
    waiting: waiting.map(reference),
  });

  it.each([
    ['its owners exist', node(), references(['a'], [], []), [], { type: 'none' }],
    ['one of its owners exists', node(), references(['a'], ['b'], ['c']), [], { type: 'forget owners', uids: ['b', 'c'] }],
    ['no owner exists', node(), references([], ['b'], []), [], { type: 'delete', policy: 'Background', unblock: false }],
    ['it was to be orphaning', node(), references([], ['b'], []), ['orphan'], { type: 'delete', policy: 'Orphan', unblock: false }],
    [
      'it was to go in the foreground',
      node(),
      references([], ['b'], []),
      ['foregroundDeletion'],
      { type: 'delete', policy: 'Foreground', unblock: false },
    ],
    ['its owner waits', node(), references([], [], ['a']), [], { type: 'delete', policy: 'Background', unblock: false }],
    [
      'its owner waits and it has dependents',
      node({ deleting: false, blocks: true }),
      references([], [], ['a']),
      [],
      { type: 'delete', policy: 'Foreground', unblock: false },
    ],
    [
      'it could wait in a circle',
      node({ deleting: true, blocks: true }),
      references([], [], ['a']),
      [],
      { type: 'delete', policy: 'Foreground', unblock: true },
    ],
  ])('when %s', (_, of, classified, finalizers, action) => {
    expect(reconcileOwned(of, classified, finalizers)).toEqual(action);
  });

  it('waits for the dependents that block, and for no others', () => {
    expect(reconcileWaiting(node({ deleting: false, blocks: false }))).toEqual({ type: 'finalize' });
    const waiting = node({ deleting: false, blocks: true }, { deleting: true, blocks: true });
    expect(blockingDependents(waiting)).toHaveLength(2);
    expect(reconcileWaiting(waiting)).toEqual({ type: 'collect', uids: ['d0'] });
  });
});
