import type { SecureVersion } from 'node:tls';
import { cipherNames, type SniSource, TLS_VERSIONS } from '#base';
import { ALWAYS_ALLOWED, type DelegationTimes } from '#client';
import { servingFlagsWithoutEffect } from './common-flags.ts';
import { CURVES_FLAG, curvesValue } from './curves-flag.ts';
import { booleanValue, durationValue, type FlagTable, flagsWithoutEffect, listValue, oneOf, portValue } from './flag-table.ts';
import { SNI_FLAG, withSniCertificates } from './sni-flag.ts';

/** Settings of a component's secure port. */
export interface ServingSettings extends SniSource {
  readonly bindAddress?: string;
  /** 0: disabled. */
  readonly securePort?: number;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Where a certificate that the server makes is kept. */
  readonly certDirectory?: string;
  readonly clientCaFile?: string;
  readonly ciphers?: string;
  readonly minVersion?: SecureVersion;
  readonly curves?: string;
  readonly authenticationKubeconfig?: string;
  readonly authorizationKubeconfig?: string;
  readonly skipLookup?: boolean;
  readonly alwaysAllowPaths?: readonly string[];
  readonly times?: Partial<DelegationTimes>;
}

/** Serving flags of kube-controller-manager and kube-scheduler. */
export const SERVING_FLAGS: FlagTable<ServingSettings> = {
  'bind-address': {
    value: 'address',
    help: 'the address to listen on (default: 0.0.0.0)',
    apply: (s, value) => ({ ...s, bindAddress: value }),
  },
  'secure-port': {
    value: 'port',
    help: 'the port for health, metrics and settings; 0 for none',
    apply: (s, value) => ({ ...s, securePort: portValue(value) }),
  },
  'tls-cert-file': {
    value: 'file',
    help: "the server's certificate (default: one that it makes for itself)",
    apply: (s, value) => ({ ...s, certFile: value }),
  },
  'cert-dir': {
    value: 'file',
    help: 'where that certificate is kept, if it makes one (default: nowhere)',
    apply: (s, value) => ({ ...s, certDirectory: value }),
  },
  'tls-private-key-file': { value: 'file', help: 'the key of that certificate', apply: (s, value) => ({ ...s, keyFile: value }) },
  'client-ca-file': {
    value: 'file',
    help: "the authority of client certificates (default: the API server's)",
    apply: (s, value) => ({ ...s, clientCaFile: value }),
  },
  'tls-cipher-suites': {
    value: 'names',
    help: 'ciphers that clients may use, separated by commas',
    repeatable: true,
    apply: (s, value) => ({ ...s, ciphers: cipherNames(listValue(value)) }),
  },
  'tls-min-version': {
    value: 'version',
    help: `the oldest version of TLS: ${[...TLS_VERSIONS.keys()].join(', ')}`,
    apply: (s, value) => ({ ...s, minVersion: TLS_VERSIONS.get(oneOf(value, [...TLS_VERSIONS.keys()]))! }),
  },
  'tls-curve-preferences': { ...CURVES_FLAG, apply: (s, value) => ({ ...s, curves: curvesValue(value) }) },
  'tls-sni-cert-key': { ...SNI_FLAG, apply: (s, value, context) => ({ ...s, ...withSniCertificates(s, value, context) }) },
  'authentication-kubeconfig': {
    value: 'file',
    help: 'the kubeconfig for TokenReviews (default: --kubeconfig)',
    apply: (s, value) => ({ ...s, authenticationKubeconfig: value }),
  },
  'authorization-kubeconfig': {
    value: 'file',
    help: 'the kubeconfig for SubjectAccessReviews (default: --kubeconfig)',
    apply: (s, value) => ({ ...s, authorizationKubeconfig: value }),
  },
  'authentication-skip-lookup': {
    value: 'bool',
    help: 'do not ask the API server for the authority of client certificates',
    apply: (s, value) => ({ ...s, skipLookup: booleanValue(value) }),
  },
  'authentication-token-webhook-cache-ttl': {
    value: 'duration',
    help: 'how long token reviews are cached (default: 10s)',
    apply: (s, value) => withTimes(s, { tokenMs: durationValue(value) }),
  },
  'authorization-webhook-cache-authorized-ttl': {
    value: 'duration',
    help: 'how long allowed decisions are cached (default: 10s)',
    apply: (s, value) => withTimes(s, { allowedMs: durationValue(value) }),
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    value: 'duration',
    help: 'how long denied decisions are cached (default: 10s)',
    apply: (s, value) => withTimes(s, { deniedMs: durationValue(value) }),
  },
  'authorization-always-allow-paths': {
    value: 'paths',
    help: `paths that need no authorization (default: ${ALWAYS_ALLOWED.join(',')})`,
    repeatable: true,
    apply: (s, value) => ({ ...s, alwaysAllowPaths: listValue(value) }),
  },
  ...servingFlagsWithoutEffect<ServingSettings>(),
  ...flagsWithoutEffect<ServingSettings>('health and metrics are served over HTTP/1.1', { 'http2-max-streams-per-connection': 'count' }),
  ...flagsWithoutEffect<ServingSettings>('an authority that cannot be looked up is left out, with a warning', {
    'authentication-tolerate-lookup-failure': 'bool',
  }),
  ...flagsWithoutEffect<ServingSettings>('callers come by themselves, not through a front proxy', {
    'requestheader-allowed-names': 'list',
    'requestheader-client-ca-file': 'file',
    'requestheader-extra-headers-prefix': 'list',
    'requestheader-group-headers': 'list',
    'requestheader-uid-headers': 'list',
    'requestheader-username-headers': 'list',
  }),
};

function withTimes(settings: ServingSettings, times: Partial<DelegationTimes>): ServingSettings {
  return { ...settings, times: { ...settings.times, ...times } };
}
