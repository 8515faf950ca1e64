import { createHmac } from 'node:crypto';
import type { core } from '#api';

const SIGNATURE_PREFIX = 'jws-kubeconfig-';

/** The ConfigMap with one signature per signing token and no others; the same object if unchanged. */
export function signedClusterInfo(map: core.ConfigMap, tokens: readonly core.BootstrapToken[], now: number): core.ConfigMap {
  const { data = {} } = map;
  const content = data.kubeconfig;
  if (content === undefined) return map;
  const signing = tokens.filter(({ signs, expiresAt }) => signs && (expiresAt ?? Number.POSITIVE_INFINITY) > now);
  const signatures = Object.fromEntries(signing.map((token) => [`${SIGNATURE_PREFIX}${token.id}`, detachedSignature(content, token)]));
  const others = Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signed = { ...Object.fromEntries(others), ...signatures };
  const isSame =
    Object.keys(signed).length === Object.keys(data).length && Object.entries(signed).every(([key, value]) => data[key] === value);
  return isSame ? map : { ...map, data: signed };
}

/** A detached JWS: the payload is left out. */
function detachedSignature(content: string, { id, secret }: core.BootstrapToken): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
  return `${header}..${signature}`;
}
