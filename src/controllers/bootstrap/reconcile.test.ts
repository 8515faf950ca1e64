import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { core } from '#api';
import { signedClusterInfo } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const token = (id: string, changes: Partial<core.BootstrapToken> = {}): core.BootstrapToken => ({
  ...{ id, secret: '0123456789abcdef', expiresAt: undefined, signs: true, authenticates: true, extraGroups: '' },
  ...changes,
});
const map = (data: Record<string, string>): core.ConfigMap => ({ metadata: { name: 'cluster-info', namespace: 'kube-public' }, data });

test('each signing bootstrap token adds a detached JWS signature', () => {
  const signed = signedClusterInfo(map({ kubeconfig: 'apiVersion: v1' }), [token('abcdef')], NOW);
  const [header, payload, signature] = signed.data!['jws-kubeconfig-abcdef']!.split('.');
  expect(JSON.parse(Buffer.from(header!, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'abcdef' });
  expect(payload).toBe('');
  const content = Buffer.from('apiVersion: v1').toString('base64url');
  expect(signature).toBe(createHmac('sha256', '0123456789abcdef').update(`${header}.${content}`).digest('base64url'));
});

test('signatures of deleted, expired or non-signing tokens are removed, other keys stay', () => {
  const before = map({ kubeconfig: 'x', other: 'y', 'jws-kubeconfig-gone00': 'a..b' });
  const tokens = [token('old000', { expiresAt: NOW }), token('nosign', { signs: false })];
  expect(signedClusterInfo(before, tokens, NOW).data).toEqual({ kubeconfig: 'x', other: 'y' });
});

test.each([
  ['it is signed already', (signed: core.ConfigMap) => signed],
  ['it holds no kubeconfig', () => map({ other: 'y' })],
])('the ConfigMap stays the same object when %s', (_, make) => {
  const signed = make(signedClusterInfo(map({ kubeconfig: 'x' }), [token('abcdef')], NOW));
  expect(signedClusterInfo(signed, [token('abcdef')], NOW)).toBe(signed);
});
