import type { core } from '#api';
import { formatTime } from '#machinery';
import { TOKEN_SECRET_TYPE } from '../tokens/reconcile.ts';

export const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';
export const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';
const ACCOUNT_NAME_ANNOTATION = 'kubernetes.io/service-account.name';
const ACCOUNT_UID_ANNOTATION = 'kubernetes.io/service-account.uid';
const DAY_MS = 24 * 3_600_000;

export interface ObservedTokens {
  readonly secrets: readonly core.Secret[];
  readonly account: (key: { readonly namespace: string; readonly name: string }) => core.ServiceAccount | undefined;
  /** The secrets that pods of a namespace mount. */
  readonly mountedSecrets: (namespace: string) => ReadonlySet<string>;
  /** The day since which the API server records the use of tokens. */
  readonly trackedSince: string;
  readonly cleanUpPeriodMs: number;
  readonly now: number;
}

/** Invalid tokens are rejected; after another period they are deleted. */
export type TokenAction =
  | { readonly type: 'mark'; readonly secret: core.Secret; readonly day: string }
  | { readonly type: 'delete'; readonly secret: core.Secret };

/** The actions for generated tokens that were unused for the period. */
export function unusedTokenActions(observed: ObservedTokens): readonly TokenAction[] {
  const { secrets, trackedSince, cleanUpPeriodMs, now } = observed;
  const since = parseDay(trackedSince);
  // Tracking began within that day: whole days count from the next one.
  if (since === undefined || now < since + DAY_MS + cleanUpPeriodMs) return [];
  return secrets.filter((secret) => isUnused(secret, observed)).flatMap((secret) => actionFor(secret, observed) ?? []);
}

function isUnused(secret: core.Secret, observed: ObservedTokens): boolean {
  const { creationTimestamp, deletionTimestamp, labels } = secret.metadata;
  if (secret.type !== TOKEN_SECRET_TYPE || deletionTimestamp !== undefined) return false;
  if (Date.parse(creationTimestamp ?? '') >= observed.now - observed.cleanUpPeriodMs) return false;
  const lastUsed = labels?.[LAST_USED_LABEL];
  if (lastUsed !== undefined && (parseDay(lastUsed) === undefined || lastUsed >= oldestDay(observed))) return false;
  return isGenerated(secret, observed) && !observed.mountedSecrets(secret.metadata.namespace ?? '').has(secret.metadata.name);
}

/** Only generated tokens are referenced by their account; manual ones are kept. */
function isGenerated({ metadata }: core.Secret, { account }: ObservedTokens): boolean {
  const { [ACCOUNT_NAME_ANNOTATION]: name = '', [ACCOUNT_UID_ANNOTATION]: uid = '' } = metadata.annotations ?? {};
  const owner = name === '' ? undefined : account({ namespace: metadata.namespace ?? '', name });
  if (owner === undefined || (uid !== '' && uid !== owner.metadata.uid)) return false;
  return owner.secrets?.some((reference) => reference.name === metadata.name) ?? false;
}

function actionFor(secret: core.Secret, observed: ObservedTokens): TokenAction | undefined {
  const invalidSince = secret.metadata.labels?.[INVALID_SINCE_LABEL] ?? '';
  if (parseDay(invalidSince) === undefined) return { type: 'mark', secret, day: dayOf(observed.now) };
  return invalidSince < oldestDay(observed) ? { type: 'delete', secret } : undefined;
}

function oldestDay({ now, cleanUpPeriodMs }: ObservedTokens): string {
  return dayOf(now - cleanUpPeriodMs);
}

function dayOf(time: number): string {
  return formatTime(time).slice(0, 10);
}

function parseDay(text: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
