import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Secret references have only a name. */
function cleanSecrets(account: core.ServiceAccount): core.ServiceAccount {
  if (!account.secrets?.some((secret) => Object.keys(secret).some((key) => key !== 'name'))) return account;
  return { ...account, secrets: account.secrets.map(({ name }) => (name ? { name } : {})) };
}

export const serviceAccountsStrategy: ResourceStrategy<core.ServiceAccount> = {
  ...core.serviceAccountBehaviour,
  prepareForCreate: cleanSecrets,
  prepareForUpdate: cleanSecrets,
  returnsDeletedObject: true,
};
