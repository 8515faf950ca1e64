import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ApiServerSettings } from '#cluster';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from './apiserver-flags.ts';
import { settingsFromArguments } from './flag-table.ts';

const cwd = mkdtempSync(path.join(os.tmpdir(), 'sampan-flags-'));
writeFileSync(path.join(cwd, 'key.pem'), 'KEY');
writeFileSync(path.join(cwd, 'tokens.csv'), 'secret,alice,1,"devs"\n');
afterAll(() => rmSync(cwd, { recursive: true }));

const read = (...args: string[]) =>
  settingsFromArguments<ApiServerSettings>(APISERVER_FLAGS, args, { initial: {}, context: { cwd } as CliContext, of: 'the API server' });

test.each<[string, ApiServerSettings]>([
  ['advertise-address=192.0.2.1', { advertiseAddress: '192.0.2.1' }],
  ['api-audiences=a,b', { serviceAccounts: { audiences: ['a', 'b'] } }],
  ['authorization-mode=Node,RBAC', { authorizationModes: ['Node', 'RBAC'] }],
  ['default-not-ready-toleration-seconds=10', { admission: { tolerations: { notReadySeconds: 10, unreachableSeconds: 300 } } }],
  ['disable-admission-plugins=PodSecurity,Priority', { admission: { disabled: ['PodSecurity', 'Priority'] } }],
  ['enable-admission-plugins=NodeRestriction', {}],
  ['enable-bootstrap-token-auth=false', { bootstrapTokens: false }],
  ['event-ttl=2h', { limits: { eventTtlSeconds: 7200 } }],
  ['http2-max-streams-per-connection=50', { limits: { maxStreamsPerConnection: 50 } }],
  ['min-request-timeout=600', { limits: { minWatchTimeoutMs: 600_000 } }],
  ['request-timeout=1m30s', { limits: { requestTimeoutMs: 90_000 } }],
  ['shutdown-delay-duration=5s', { limits: { shutdownDelayMs: 5000 } }],
  [
    'service-account-issuer=https://a,https://b',
    { serviceAccountIssuer: 'https://a', serviceAccounts: { additionalIssuers: ['https://b'] } },
  ],
  ['service-account-key-file=key.pem', { serviceAccounts: { verificationKeys: ['KEY'] } }],
  ['service-account-max-token-expiration=24h', { serviceAccounts: { maxTokenExpirationSeconds: 86_400 } }],
  ['tls-min-version=VersionTLS13', { tls: { minVersion: 'TLSv1.3' } }],
  [
    'tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    { tls: { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-CHACHA20-POLY1305' } },
  ],
  [
    'token-auth-file=tokens.csv',
    { staticTokens: new Map([['secret', { name: 'alice', uid: '1', groups: ['devs', 'system:authenticated'] }]]) },
  ],
])('--%s', (argument, settings) => {
  expect(read(argument)).toEqual(settings);
});

test.each([
  ['authorization-mode=ABAC', "--authorization-mode: 'ABAC' is none of Node, RBAC, AlwaysAllow, AlwaysDeny"],
  ['disable-admission-plugins=Nope', "--disable-admission-plugins: 'Nope' is none of NamespaceLifecycle, "],
  ['request-timeout=soon', '--request-timeout: time: invalid duration "soon"'],
  ['http2-max-streams-per-connection=-1', "--http2-max-streams-per-connection: '-1' is no whole number from 0 on"],
  ['tls-min-version=SSL3', "--tls-min-version: 'SSL3' is none of VersionTLS12, VersionTLS13"],
  ['tls-cipher-suites=TLS_NONE', "--tls-cipher-suites: 'NONE' is no cipher that this server has"],
  ['token-auth-file=missing.csv', '--token-auth-file: cannot read missing.csv (ENOENT)'],
  ['allow-privileged=false', '--allow-privileged: privileged containers are refused by pod security levels'],
  ['etcd-server=x', "the API server has no flag 'etcd-server'"],
])('--%s is refused', (argument, message) => {
  expect(() => read(argument)).toThrow(message);
});

test('a plugin is not both enabled and disabled', () => {
  expect(() => read('disable-admission-plugins=Priority', 'enable-admission-plugins=Priority')).toThrow('both enabled and disabled');
});
