import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_SERVICES } from '#apiserver';
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
  ['advertise-address=', {}],
  ['tls-curve-preferences=29,23', { tls: { ecdhCurve: 'X25519:P-256' } }],
  ['encryption-provider-config-automatic-reload=false', {}],
  ['service-node-port-range=30000+10', { services: { ...DEFAULT_SERVICES, nodePortRange: { first: 30_000, last: 30_010 } } }],
  ['service-node-port-range=30000', { services: { ...DEFAULT_SERVICES, nodePortRange: { first: 30_000, last: 30_000 } } }],
  ['api-audiences=a,b', { serviceAccounts: { audiences: ['a', 'b'] } }],
  ['authorization-mode=Node,RBAC', { authorizationModes: ['Node', 'RBAC'] }],
  ['audit-log-path=audit.log', { audit: { log: { path: path.join(cwd, 'audit.log') } } }],
  ['authentication-config=auth.yaml', { external: { authenticationConfig: path.join(cwd, 'auth.yaml') } }],
  ['authentication-token-webhook-cache-ttl=10s', { tokenWebhook: { cacheTtlMs: 10_000 } }],
  ['authorization-webhook-version=v1', { authorizationWebhook: { version: 'v1' } }],
  ['oidc-issuer-url=https://issuer', { oidc: { issuerUrl: 'https://issuer' } }],
  [
    'oidc-required-claim=hd=example.com,a=b',
    {
      oidc: {
        requiredClaims: [
          { claim: 'hd', requiredValue: 'example.com' },
          { claim: 'a', requiredValue: 'b' },
        ],
      },
    },
  ],
  ['audit-log-maxsize=5', { audit: { log: { maxSizeMegabytes: 5 } } }],
  ['audit-webhook-batch-initial-backoff=3s', { audit: { webhook: { initialBackoffMs: 3000 } } }],
  ['audit-webhook-batch-max-wait=5s', { audit: { webhook: { batchMaxWaitMs: 5000 } } }],
  ['audit-webhook-config-file=key.pem', { audit: { webhook: { kubeconfig: { path: path.join(cwd, 'key.pem'), text: 'KEY' } } } }],
  ['default-not-ready-toleration-seconds=10', { admission: { tolerations: { notReadySeconds: 10, unreachableSeconds: 300 } } }],
  ['disable-admission-plugins=PodSecurity,Priority', { admission: { disabled: ['PodSecurity', 'Priority'] } }],
  ['enable-admission-plugins=NodeRestriction', {}],
  ['enable-admission-plugins=NodeRestriction,AlwaysPullImages', { admission: { enabled: ['AlwaysPullImages'] } }],
  ['enable-bootstrap-token-auth=false', { bootstrapTokens: false }],
  ['external-hostname=api.example.com', { externalHostname: 'api.example.com' }],
  ['event-ttl=2h', { limits: { eventTtlSeconds: 7200 } }],
  ['http2-max-streams-per-connection=50', { limits: { maxStreamsPerConnection: 50 } }],
  [
    'cors-allowed-origins=//a.example(:|$),//b.example(:|$)',
    { limits: { http: { allowedOrigins: ['//a.example(:|$)', '//b.example(:|$)'] } } },
  ],
  ['goaway-chance=0.01', { limits: { http: { goAwayChance: 0.01 } } }],
  ['strict-transport-security-directives=max-age=60,preload', { limits: { http: { strictTransportSecurity: ['max-age=60', 'preload'] } } }],
  ['max-mutating-requests-inflight=20', { limits: { inFlight: { maxMutatingRequestsInFlight: 20 } } }],
  ['max-requests-inflight=0', { limits: { inFlight: { maxRequestsInFlight: 0 } } }],
  ['min-request-timeout=600', { limits: { minWatchTimeoutMs: 600_000 } }],
  ['request-timeout=1m30s', { limits: { requestTimeoutMs: 90_000 } }],
  ['shutdown-delay-duration=5s', { limits: { shutdownDelayMs: 5000 } }],
  [
    'service-account-issuer=https://a,https://b',
    { serviceAccountIssuer: 'https://a', serviceAccounts: { additionalIssuers: ['https://b'] } },
  ],
  ['etcd-prefix=/other/', { keyPrefix: '/other' }],
  ['runtime-config=api/beta=true', { runtimeConfig: new Map([['api/beta', 'true']]) }],
  ['storage-media-type=application/vnd.kubernetes.protobuf', { storageMediaType: 'application/vnd.kubernetes.protobuf' }],
  ['feature-gates=ClusterTrustBundle=true', { featureGates: new Map([['ClusterTrustBundle', true]]) }],
  ['emulated-version=kube=1.34', { emulation: { emulated: '1.34', minCompatibility: '1.33' } }],
  ['min-compatibility-version=1.34', { emulation: { emulated: '1.36', minCompatibility: '1.34' } }],
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
  ['authorization-mode=Nope', "--authorization-mode: 'Nope' is none of Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny"],
  ['oidc-signing-algs=HS256', "--oidc-signing-algs: 'HS256' is none of RS256"],
  ['oidc-required-claim=hd', "--oidc-required-claim: 'hd' is not of the form claim=value"],
  ['authorization-policy-file=key.pem', '--authorization-policy-file: error reading policy file key.pem, line 1: KEY: '],
  ['audit-policy-file=key.pem', "--audit-policy-file: loading audit policy file: failed decoding: Object 'Kind' is missing"],
  ['audit-log-mode=sometimes', "--audit-log-mode: 'sometimes' is none of batch, blocking, blocking-strict"],
  ['audit-log-version=audit.k8s.io/v1beta1', "'audit.k8s.io/v1beta1' is none of audit.k8s.io/v1"],
  ['disable-admission-plugins=Nope', "--disable-admission-plugins: 'Nope' is none of AlwaysAdmit, "],
  ['runtime-config=api/all=false', '--runtime-config: invalid runtime-config with only api/all=false'],
  ['storage-media-type=application/yaml', "--storage-media-type: 'application/yaml' is none of application/json, "],
  ['feature-gates=Nonsense=true', '--feature-gates: unrecognized feature gate: Nonsense'],
  ['emulated-version=1.30', '--emulated-version: emulation version 1.30 is not between [1.33, 1.36.4]'],
  ['emulated-version=1.35.2', '--emulated-version: patch version not allowed, got: kube=1.35.2'],
  ['min-compatibility-version=1.37', '--min-compatibility-version: minCompatibilityVersion version 1.37 is not between [1.33, 1.36]'],
  ['cors-allowed-origins=example.com', 'regular expression does not pin to start/end of host in the origin header'],
  ['cors-allowed-origins=//a(:|$', '--cors-allowed-origins: "//a(:|$": error parsing regexp: missing closing )'],
  ['goaway-chance=0.5', '--goaway-chance: it must be between 0 and 0.02'],
  ['strict-transport-security-directives=never', '"never" is none of max-age=SECONDS, includeSubDomains, preload'],
  ['request-timeout=soon', 'invalid argument "soon" for "--request-timeout" flag: time: invalid duration "soon"'],
  ['http2-max-streams-per-connection=-1', "--http2-max-streams-per-connection: '-1' is no whole number from 0 on"],
  ['tls-min-version=SSL3', "--tls-min-version: 'SSL3' is none of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13"],
  ['tls-curve-preferences=x', 'invalid argument "x" for "--tls-curve-preferences" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  ['tls-curve-preferences=7', '--tls-curve-preferences: 7 is no curve that this server has'],
  ['tls-cipher-suites=TLS_NONE', "--tls-cipher-suites: 'NONE' is no cipher that this server has"],
  ['token-auth-file=missing.csv', '--token-auth-file: cannot read missing.csv (ENOENT)'],
  ['advertise-address=1.2.3', 'invalid argument "1.2.3" for "--advertise-address" flag: failed to parse IP: "1.2.3"'],
  ['service-node-port-range=30010-30000', "'30010-30000' is no range of ports"],
  ['allow-privileged=false', '--allow-privileged: privileged containers are refused by pod security levels'],
  ['etcd-server=x', "the API server has no flag 'etcd-server'"],
])('--%s is refused', (argument, message) => {
  expect(() => read(argument)).toThrow(message);
});

test('an admission plugin cannot be both enabled and disabled', () => {
  expect(() => read('disable-admission-plugins=Priority', 'enable-admission-plugins=Priority')).toThrow('both enabled and disabled');
});
