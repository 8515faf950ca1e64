import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

/** Of a secret's reference only the name counts. */
function cleanSecrets(account: core.ServiceAccount): core.ServiceAccount {
  if (!account.secrets?.some((secret) => Object.keys(secret).some((key) => key !== 'name'))) return account;
  return { ...account, secrets: account.secrets.map(({ name }) => (name ? { name } : {})) };
}

export const serviceAccountsStrategy: ResourceStrategy<core.ServiceAccount> = {
  ...core.serviceAccountBehaviour,
  prepareForCreate: cleanSecrets,
  prepareForUpdate: cleanSecrets,
};
