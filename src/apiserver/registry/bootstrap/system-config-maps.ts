import type { core } from '#api';
import { formatTime } from '#machinery';

const NAMESPACE = 'kube-system';

type ConfigMap = core.ConfigMap & { readonly metadata: { readonly name: string; readonly namespace: string } };

/** Since when the use of tokens that lie in secrets is noted: who cleans them up must not take older silence for disuse. */
export function legacyTokenTracking(now: number): ConfigMap {
  const name = 'kube-apiserver-legacy-service-account-token-tracking';
  return { metadata: { name, namespace: NAMESPACE }, data: { since: formatTime(now).slice(0, 'yyyy-mm-dd'.length) } };
}

/** What servers of other APIs trust clients by: the authorities of this server's clients, PEM, each once. */
export function extensionAuthentication(authorities: readonly string[]): ConfigMap {
  const certificates = new Set(authorities.flatMap(certificatesIn));
  const data = certificates.size === 0 ? {} : { 'client-ca-file': [...certificates].join('') };
  return { metadata: { name: 'extension-apiserver-authentication', namespace: NAMESPACE }, data };
}

/** The authorities that such a config map names, this server's and those of others. */
export function trustedAuthorities({ data }: core.ConfigMap): readonly string[] {
  return data?.['client-ca-file'] === undefined ? [] : [data['client-ca-file']];
}

function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].map(([certificate]) => `${certificate}\n`);
}
