import { isLocalHost } from '#base';
import type { KeySource, ServiceAccountKeys, VerificationKey } from '../authn/service-accounts/keys.ts';
import { checkProducible } from '../request/negotiation.ts';
import type { Handler } from './api-response.ts';
import { methodNotAllowed } from './route.ts';

export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const JWKS_PATH = '/openid/v1/jwks';
const CACHED = { 'cache-control': 'public, max-age=3600' };

export interface OpenIdOptions {
  readonly issuer: string;
  /** The published URL of the keys; this server by default. */
  readonly jwksUri?: string;
  /** host:port under which clients reach the server. */
  readonly address: () => string;
  readonly keys: KeySource;
}

export interface PathHandler {
  readonly prefix: string;
  readonly handler: Handler;
}

/** OpenID discovery for verifiers of service account tokens. Not served unless the issuer is an https URL. */
export function openIdPaths({ issuer, jwksUri, address, keys }: OpenIdOptions): readonly PathHandler[] {
  if (!isUsableIssuer(issuer)) return [];
  const configuration = ({ verification }: ServiceAccountKeys) => ({
    issuer,
    jwks_uri: jwksUri ?? `${keysOrigin(issuer, address())}${JWKS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(verification.map(({ algorithm }) => algorithm))].sort(),
  });
  const keySet = ({ verification }: ServiceAccountKeys) => ({ keys: verification.map(jwk) });
  return [
    { prefix: OPENID_CONFIGURATION_PATH, handler: document('application/json', async () => JSON.stringify(configuration(await keys()))) },
    { prefix: JWKS_PATH, handler: document('application/jwk-set+json', async () => JSON.stringify(keySet(await keys()))) },
  ];
}

/** Pods cannot reach this machine's loopback, but reach the server as the `kubernetes` service when that is the issuer. */
function keysOrigin(issuer: string, address: string): string {
  const { hostname, origin } = new URL(issuer);
  const isService = hostname === 'kubernetes.default.svc' || hostname.startsWith('kubernetes.default.svc.');
  return isService && isLocalHost(hostOf(address)) ? origin : `https://${address}`;
}

/** URL keeps the brackets of IPv6 addresses. */
function hostOf(address: string): string {
  return new URL(`https://${address}`).hostname.replace(/^\[|\]$/g, '');
}

function isUsableIssuer(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, search, hash } = new URL(issuer);
  return protocol === 'https:' && search === '' && hash === '';
}

function jwk({ id, algorithm, key }: VerificationKey): object {
  const { kty, ...parts } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: algorithm, ...parts };
}

function document(contentType: string, body: () => Promise<string>): Handler {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    checkProducible(request.header('accept'), [contentType]);
    return { type: 'raw', code: 200, contentType, body: await body(), headers: CACHED };
  };
}
