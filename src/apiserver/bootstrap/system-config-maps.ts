import type { core } from '#api';
import { formatTime } from '#machinery';
import type { RequestHeaderConfig } from '../authn/request-header.ts';

const NAMESPACE = 'kube-system';

type ConfigMap = core.ConfigMap & { readonly metadata: { readonly name: string; readonly namespace: string } };

/** Since when the use of secret-based tokens is recorded: the cleaner must not treat earlier silence as disuse. */
export function legacyTokenTracking(now: number): ConfigMap {
  const name = 'kube-apiserver-legacy-service-account-token-tracking';
  return { metadata: { name, namespace: NAMESPACE }, data: { since: formatTime(now).slice(0, 'yyyy-mm-dd'.length) } };
}

/** The ConfigMap extension-apiserver-authentication: the client CAs (PEM, deduplicated) and the front proxy settings. */
export function extensionAuthentication(authorities: readonly string[], requestHeader?: RequestHeaderConfig): ConfigMap {
  const bundle = bundleOf(authorities);
  const data = { ...(bundle && { [CLIENT_CA]: bundle }), ...(requestHeader && frontProxyData(requestHeader)) };
  return { metadata: { name: 'extension-apiserver-authentication', namespace: NAMESPACE }, data };
}

const CLIENT_CA = 'client-ca-file';
const FRONT_PROXY_CA = 'requestheader-client-ca-file';
type Data = Readonly<Record<string, string>>;

function frontProxyData(config: RequestHeaderConfig): Data {
  return {
    [FRONT_PROXY_CA]: bundleOf([config.authorities()]),
    'requestheader-allowed-names': JSON.stringify(config.allowedNames),
    'requestheader-extra-headers-prefix': JSON.stringify(config.extraHeaderPrefixes),
    'requestheader-group-headers': JSON.stringify(config.groupHeaders),
    'requestheader-uid-headers': JSON.stringify(config.uidHeaders),
    'requestheader-username-headers': JSON.stringify(config.usernameHeaders),
  };
}

/** Merges CAs, names and headers of several servers. */
export function mergedAuthentication(current: Data, added: Data): Data {
  const merged: Record<string, string> = { ...current };
  for (const [key, value] of Object.entries(added)) {
    const before = current[key] ?? '';
    merged[key] = key.endsWith('-ca-file')
      ? bundleOf([before, value])
      : JSON.stringify([...new Set([...namesIn(before), ...namesIn(value)])]);
  }
  return merged;
}

function namesIn(text: string): readonly string[] {
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

function bundleOf(authorities: readonly string[]): string {
  return [...new Set(authorities.flatMap(certificatesIn))].join('');
}

function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].map(([certificate]) => `${certificate}\n`);
}
