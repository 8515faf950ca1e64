import { timingSafeEqual } from 'node:crypto';
import { core } from '#api';
import type { Clock } from '#base';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { TokenAuthenticator, TokenResponse } from './authenticator.ts';
import type { ObjectReader } from './object-reader.ts';

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Bootstrap tokens `id.secret`, with which new nodes request their first certificate; stored as secrets in kube-system. */
export function bootstrapTokens(secrets: ObjectReader, clock: Clock): TokenAuthenticator {
  return {
    async authenticateToken(token) {
      const [, id = '', value = ''] = TOKEN.exec(token) ?? [];
      if (id === '') return undefined;
      const secret = await secrets.current(core.BOOTSTRAP_TOKEN_NAMESPACE, `bootstrap-token-${id}`);
      return secret && tokenResponse(secret, { id, value, now: clock.now() });
    },
  };
}

interface PresentedToken {
  readonly id: string;
  readonly value: string;
  readonly now: number;
}

function tokenResponse(secret: KubeObject, { id, value, now }: PresentedToken): TokenResponse | undefined {
  const token = core.readBootstrapToken(secret as unknown as core.Secret);
  if (token?.id !== id || !token.authenticates || !sameText(token.secret, value)) return undefined;
  if (token.expiresAt !== undefined && now >= token.expiresAt) return undefined;
  const groups = groupsOf(token.extraGroups);
  return groups && { user: { name: `system:bootstrap:${id}`, groups } };
}

function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

/** Undefined when an extra group is not allowed for bootstrap tokens. */
function groupsOf(extra: string): readonly string[] | undefined {
  const names = extra === '' ? [] : extra.split(',');
  return names.every((name) => EXTRA_GROUP.test(name)) ? [...new Set([GROUP, ...names])].sort() : undefined;
}
