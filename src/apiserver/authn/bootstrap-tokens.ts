import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base';
import type { KubeObject } from '../registry/kube-object.ts';
import type { TokenAuthenticator, TokenVerdict } from './authenticator.ts';
import type { ObjectReader } from './object-reader.ts';

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';
const GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Tokens that let a new node ask for its first certificate: `id.secret`, kept in kube-system as secrets named after their id. */
export function bootstrapTokens(secrets: ObjectReader, clock: Clock): TokenAuthenticator {
  return {
    async authenticateToken(token) {
      const [, id = '', value = ''] = TOKEN.exec(token) ?? [];
      if (id === '') return undefined;
      const secret = await secrets.current('kube-system', `bootstrap-token-${id}`);
      return secret && verdict(secret, { id, value, now: clock.now() });
    },
  };
}

interface Presented {
  readonly id: string;
  readonly value: string;
  readonly now: number;
}

function verdict(secret: KubeObject, { id, value, now }: Presented): TokenVerdict | undefined {
  if (secret.metadata.deletionTimestamp !== undefined || secret.type !== SECRET_TYPE) return undefined;
  const data = reader(secret);
  const isRight = data('token-id') === id && sameText(data('token-secret'), value);
  if (!isRight || data('usage-bootstrap-authentication') !== 'true' || hasExpired(data('expiration'), now)) return undefined;
  const groups = groupsOf(data('auth-extra-groups'));
  return groups && { user: { name: `system:bootstrap:${id}`, groups } };
}

function reader({ data }: KubeObject): (key: string) => string {
  const values = (data ?? {}) as Readonly<Record<string, string>>;
  return (key) => Buffer.from(values[key] ?? '', 'base64').toString('utf8');
}

function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

/** A time that cannot be read has passed. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false;
  const time = Date.parse(expiration);
  return Number.isNaN(time) || now >= time;
}

/** Undefined when one of the extra groups is not for bootstrap tokens. */
function groupsOf(extra: string): readonly string[] | undefined {
  const names = extra === '' ? [] : extra.split(',');
  return names.every((name) => EXTRA_GROUP.test(name)) ? [...new Set([GROUP, ...names])].sort() : undefined;
}
