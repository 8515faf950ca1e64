import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type ObservedTokens, unusedTokenActions } from './reconcile.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

const account: core.ServiceAccount = { metadata: { name: 'sa', namespace: 'ns', uid: 'u' }, secrets: [{ name: 'generated' }] };

function secret(metadata: object = {}, labels: Record<string, string> = {}): core.Secret {
  const annotations = { 'kubernetes.io/service-account.name': 'sa', 'kubernetes.io/service-account.uid': 'u' };
  const base = { name: 'generated', namespace: 'ns', creationTimestamp: '2026-01-01T00:00:00Z', annotations, labels };
  return { metadata: { ...base, ...metadata }, type: 'kubernetes.io/service-account-token' } as core.Secret;
}

function actions(only: core.Secret, observed: Partial<ObservedTokens> = {}): readonly string[] {
  return unusedTokenActions({
    secrets: [only],
    account: () => account,
    mountedSecrets: () => new Set(),
    trackedSince: '2026-01-01',
    cleanUpPeriodMs: 30 * DAY_MS,
    now: NOW,
    ...observed,
  }).map((action) => (action.type === 'mark' ? `mark ${action.day}` : 'delete'));
}

describe('a generated token', () => {
  it.each([
    ['that was never used', {}, ['mark 2026-06-01']],
    ['used before the period', { [LAST_USED]: '2026-05-01' }, ['mark 2026-06-01']],
    ['used within the period', { [LAST_USED]: '2026-05-02' }, []],
    ['with a day of use that is none', { [LAST_USED]: 'yesterday' }, []],
    ['marked before the period', { [INVALID_SINCE]: '2026-05-01' }, ['delete']],
    ['marked within the period', { [INVALID_SINCE]: '2026-05-02' }, []],
    ['marked with a day that is none', { [INVALID_SINCE]: 'true' }, ['mark 2026-06-01']],
  ] as const)('%s', (_what, labels, expected) => {
    expect(actions(secret({}, labels))).toEqual(expected);
  });

  it('is kept while a pod refers to it', () => {
    expect(actions(secret(), { mountedSecrets: () => new Set(['generated']) })).toEqual([]);
  });

  it('is kept until the use of tokens was tracked for the whole period', () => {
    expect(actions(secret(), { trackedSince: '2026-05-02' })).toEqual([]);
    expect(actions(secret(), { trackedSince: '2026-05-01' })).toEqual(['mark 2026-06-01']);
    expect(actions(secret(), { trackedSince: '' })).toEqual([]);
  });

  it('is kept when it is young, or being deleted', () => {
    expect(actions(secret({ creationTimestamp: '2026-05-20T00:00:00Z' }))).toEqual([]);
    expect(actions(secret({ deletionTimestamp: '2026-05-20T00:00:00Z' }))).toEqual([]);
  });
});

it.each([
  ['of another type', { ...secret(), type: 'Opaque' }, account],
  ['that its account does not refer to', secret({ name: 'manual' }), account],
  ['of an account that is gone', secret(), undefined],
  ['of an earlier account of that name', secret(), { ...account, metadata: { ...account.metadata, uid: 'other' } }],
] as const)('a secret %s is left alone', (_what, tokenSecret, owner) => {
  expect(actions(tokenSecret, { account: () => owner })).toEqual([]);
});
