import { authenticated, type UserInfo } from '../request/user.ts';
import type { Authenticator, TokenAuthenticator } from './authenticator.ts';
import { bearerToken } from './bearer-token.ts';

/** Tokens from a CSV file: `token,user,uid,"group1,group2"`. */
export function staticTokens(tokens: ReadonlyMap<string, UserInfo>): Authenticator & TokenAuthenticator {
  return {
    authenticate(request) {
      const token = bearerToken(request);
      return token === undefined ? undefined : tokens.get(token);
    },
    authenticateToken(token) {
      const user = tokens.get(token);
      return user && { user };
    },
  };
}

export function parseTokenFile(text: string): ReadonlyMap<string, UserInfo> {
  const tokens = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [token = '', name = '', uid = '', groups = ''] = csvFields(line);
    if (token === '' || name === '') throw new Error(`line ${index + 1} of the token file must be: token,user,uid[,"group1,group2"]`);
    tokens.set(token, authenticated({ name, uid, groups: groupNames(groups) }));
  }
  return tokens;
}

function groupNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((group) => group.trim())
    .filter(Boolean);
}

function csvFields(line: string): string[] {
  // bounded: the operator's own file.
  return [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '',
  );
}
