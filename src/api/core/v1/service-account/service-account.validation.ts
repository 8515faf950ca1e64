import { type FieldError, nameIsDnsSubdomain } from '#machinery';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { ServiceAccount } from './service-account.ts';

const MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateServiceAccount(account: ServiceAccount): FieldError[] {
  return validateObjectMeta(account.metadata, META);
}

export function validateServiceAccountUpdate(account: ServiceAccount, old: ServiceAccount): FieldError[] {
  return [...validateObjectMetaUpdate(account.metadata, old.metadata), ...validateServiceAccount(account)];
}

export function serviceAccountWarnings(account: ServiceAccount, old?: ServiceAccount): readonly string[] {
  const isSet = ({ metadata }: ServiceAccount) => metadata.annotations?.[MOUNTABLE_SECRETS] !== undefined;
  if (!isSet(account) || (old && isSet(old))) return [];
  return [
    `metadata.annotations[${MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
}
