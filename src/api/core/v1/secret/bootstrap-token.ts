import { parseTime } from '#machinery';
import type { Secret } from './secret.ts';

/** The namespace and type of bootstrap token secrets. */
export const BOOTSTRAP_TOKEN_NAMESPACE = 'kube-system';
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';
const NAME_PREFIX = 'bootstrap-token-';

/** A token to join a node: `id.secret`. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** The expiration in milliseconds; undefined without one. An unparsable time counts as expired. */
  readonly expiresAt: number | undefined;
  /** It signs the ConfigMap cluster-info, so that holders of the token can trust its content. */
  readonly signs: boolean;
  readonly authenticates: boolean;
  /** Names of groups, separated by commas. */
  readonly extraGroups: string;
}

/** The token of a secret; undefined if it has none, or its name does not match. */
export function readBootstrapToken({ metadata, type, data = {} }: Pick<Secret, 'metadata' | 'type' | 'data'>): BootstrapToken | undefined {
  if (type !== SECRET_TYPE || metadata.deletionTimestamp !== undefined) return undefined;
  const read = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const [id, secret] = [read('token-id'), read('token-secret')];
  if (!/^[a-z0-9]{6}$/.test(id) || secret === '' || metadata.name !== `${NAME_PREFIX}${id}`) return undefined;
  return {
    id,
    secret,
    expiresAt: timeOf(read('expiration')),
    signs: read('usage-bootstrap-signing') === 'true',
    authenticates: read('usage-bootstrap-authentication') === 'true',
    extraGroups: read('auth-extra-groups'),
  };
}

function timeOf(text: string): number | undefined {
  if (text === '') return undefined;
  try {
    return parseTime(text);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
