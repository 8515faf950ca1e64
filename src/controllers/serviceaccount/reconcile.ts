import type { core } from '#api';

const ENSURED = ['default'];

/** The service accounts that an active namespace must have and does not. */
export function missingServiceAccounts(namespace: core.Namespace, has: (name: string) => boolean): readonly string[] {
  return namespace.status?.phase === 'Active' ? ENSURED.filter((name) => !has(name)) : [];
}
