import { checkDns1123Label, checkDns1123Subdomain } from '#machinery';

const PREFIX = 'system:serviceaccount:';
export const SERVICE_ACCOUNTS_GROUP = 'system:serviceaccounts';

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export function serviceAccountUsername({ namespace, name }: ServiceAccountName): string {
  return `${PREFIX}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [SERVICE_ACCOUNTS_GROUP, `${SERVICE_ACCOUNTS_GROUP}:${namespace}`];
}

/** Undefined when the user is not a service account. */
export function parseServiceAccountUsername(username: string): ServiceAccountName | undefined {
  if (!username.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...rest] = username.slice(PREFIX.length).split(':');
  const isValid = rest.length === 0 && checkDns1123Label(namespace).length === 0 && checkDns1123Subdomain(name).length === 0;
  return isValid ? { namespace, name } : undefined;
}
