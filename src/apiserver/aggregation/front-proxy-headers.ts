import type { UserInfo } from '../request/user.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The X-Remote headers with the user; backends trust them by the proxy client certificate. */
export function frontProxyHeaders({ name, uid, groups, extra = {} }: UserInfo): Headers {
  const extras = Object.entries(extra).map(([key, values]) => [`x-remote-extra-${escapeHeaderKey(key)}`, values] as const);
  return {
    'x-remote-user': name,
    ...(uid && { 'x-remote-uid': uid }),
    ...(groups.length > 0 && { 'x-remote-group': groups }),
    ...Object.fromEntries(extras),
  };
}

const PLAIN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/** Keys may have bytes that header names may not; these are percent-encoded. */
export function escapeHeaderKey(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key)) {
    const character = String.fromCharCode(byte);
    escaped += PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
