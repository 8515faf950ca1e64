import type { core } from '#api';

const ENSURED = ['default'];

/** The missing service accounts of an active namespace. */
export function missingServiceAccounts(namespace: core.Namespace, has: (name: string) => boolean): readonly string[] {
  return namespace.status?.phase === 'Active' ? ENSURED.filter((name) => !has(name)) : [];
}
