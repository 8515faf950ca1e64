import type { core } from '#api';
import type { PullAccount } from '../pull-records.ts';
import type { ProviderTokens } from './provider-config.ts';

/** Reads service accounts of the API and requests tokens for them. */
export interface AccountSource {
  /** Rejects when it does not exist. */
  account(namespace: string, name: string): Promise<core.ServiceAccount>;
  /** A token of the pod's service account with this uid. */
  token(pod: core.Pod, audience: string, accountUid: string): Promise<string>;
}

/** For whom a credential provider is called. */
export interface ProviderCaller {
  /** Callers with the same key share what is cached. */
  readonly cacheKey: string;
  readonly account?: PullAccount;
  readonly token?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The node itself. */
export const ANYONE: ProviderCaller = { cacheKey: '' };

/** Undefined: the provider is not called for pods of this service account. Rejects with the API's error. */
export async function providerCaller(pod: core.Pod, tokens: ProviderTokens, source: AccountSource): Promise<ProviderCaller | undefined> {
  const { namespace = '' } = pod.metadata;
  const name = pod.spec?.serviceAccountName ?? '';
  if (name === '') return tokens.requiresAccount ? undefined : ANYONE;
  const { metadata } = await source.account(namespace, name);
  const annotations = annotationsOf(metadata.annotations ?? {}, tokens);
  if (annotations === undefined) return undefined;
  const account = { uid: metadata.uid ?? '', namespace, name };
  const token = await source.token(pod, tokens.audience, account.uid);
  const cacheKey = ` ${JSON.stringify([account, Object.entries(annotations), tokens.cacheType === 'Token' ? token : ''])}`;
  return { cacheKey, account, token, annotations };
}

/** Undefined: a required one is missing. */
function annotationsOf(
  annotations: Readonly<Record<string, string>>,
  { requiredAnnotations, optionalAnnotations }: ProviderTokens,
): Readonly<Record<string, string>> | undefined {
  const own = new Map(Object.entries(annotations));
  if (!requiredAnnotations.every((key) => own.has(key))) return undefined;
  const keys = [...requiredAnnotations, ...optionalAnnotations].filter((key) => own.has(key)).sort();
  return Object.fromEntries(keys.map((key) => [key, own.get(key) ?? '']));
}
