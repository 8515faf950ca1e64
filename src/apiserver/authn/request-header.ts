import type { ApiRequest, ClientCertificate } from '../request/api-request.ts';
import { type HeaderLine, unescapedKey } from '../request/header-lines.ts';
import { authenticated, type UserInfo } from '../request/user.ts';
import type { Authenticator } from './authenticator.ts';
import { isIssuedBy } from './certificate-authorities.ts';

/** As upstream's flags `--requestheader-*`. */
export interface RequestHeaderConfig {
  /** PEM of the front proxies' CAs; read for each connection. */
  readonly authorities: () => string;
  /** Allowed common names of front proxies; empty: any. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Authenticates users by the headers of a front proxy with a trusted certificate. */
export function requestHeaders(config: RequestHeaderConfig): Authenticator {
  const isProxy = (certificate: ClientCertificate) => isFrontProxy(certificate, config);
  return {
    authenticate(request) {
      const { clientCertificate: certificate } = request;
      if (certificate === undefined || certificate.problem !== undefined || !isProxy(certificate)) return undefined;
      const user = userOf(request, config);
      return user && authenticated(user);
    },
  };
}

function isFrontProxy(certificate: ClientCertificate, { authorities, allowedNames }: RequestHeaderConfig): boolean {
  if (!isIssuedBy(certificate, authorities())) return false;
  if (allowedNames.length === 0 || allowedNames.includes(certificate.commonName)) return true;
  throw new Error(`x509: subject with cn=${certificate.commonName} is not in the allowed list`);
}

function userOf(request: ApiRequest, config: RequestHeaderConfig): UserInfo | undefined {
  const values = (names: readonly string[]) => names.flatMap((name) => valuesOf(request, name));
  const [name] = values(config.usernameHeaders);
  if (name === undefined) return undefined;
  const [uid] = values(config.uidHeaders);
  const extra = extraOf(request, config.extraHeaderPrefixes);
  return { name, ...(uid && { uid }), groups: values(config.groupHeaders), ...(extra.size > 0 && { extra: Object.fromEntries(extra) }) };
}

function valuesOf(request: ApiRequest, header: string): readonly string[] {
  const name = header.toLowerCase();
  return linesOf(request, name).flatMap((line) => (line.name === name && line.value !== '' ? [line.value] : []));
}

function extraOf(request: ApiRequest, prefixes: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes.map((text) => text.toLowerCase()))
    for (const { name, value } of linesOf(request, prefix)) {
      const key = unescapedKey(name.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  return extra;
}

function linesOf(request: ApiRequest, prefix: string): readonly HeaderLine[] {
  return request.headerLines?.(prefix) ?? [];
}
