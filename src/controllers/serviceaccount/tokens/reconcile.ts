import type { core } from '#api';

export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';
const NAME_ANNOTATION = 'kubernetes.io/service-account.name';
const UID_ANNOTATION = 'kubernetes.io/service-account.uid';

export interface TokenInput {
  readonly account: core.ServiceAccount;
  readonly rootCa: string | undefined;
  sign(): string;
}

/** The account of a token secret; undefined for other secrets. */
export function accountOf({ type, metadata }: core.Secret): { readonly name: string; readonly uid: string } | undefined {
  const { [NAME_ANNOTATION]: name = '', [UID_ANNOTATION]: uid = '' } = metadata.annotations ?? {};
  return type === TOKEN_SECRET_TYPE && name !== '' ? { name, uid } : undefined;
}

/** Whether the secret is for this account: by name, and by uid when it has one. */
export function isTokenOf(secret: core.Secret, { metadata }: Pick<core.ServiceAccount, 'metadata'>): boolean {
  const account = accountOf(secret);
  return (
    account?.name === metadata.name &&
    secret.metadata.namespace === metadata.namespace &&
    (account.uid === '' || account.uid === metadata.uid)
  );
}

/** The secret with the complete data of a token secret; undefined if unchanged. */
export function reconcileToken(secret: core.Secret, { account, rootCa, sign }: TokenInput): core.Secret | undefined {
  const { data = {}, metadata } = secret;
  const ca = rootCa && base64(rootCa);
  const missing = {
    ...(ca && data['ca.crt'] !== ca && { 'ca.crt': ca }),
    ...(!data.namespace && { namespace: base64(metadata.namespace ?? '') }),
    ...(!data.token && { token: base64(sign()) }),
  };
  if (Object.keys(missing).length === 0) return undefined;
  const annotations = { ...metadata.annotations, [NAME_ANNOTATION]: account.metadata.name, [UID_ANNOTATION]: account.metadata.uid ?? '' };
  return { ...secret, metadata: { ...metadata, annotations }, data: { ...data, ...missing } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
