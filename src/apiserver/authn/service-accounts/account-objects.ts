import type { ObjectReader } from '../object-reader.ts';

/** The objects that service account tokens can be bound to. */
export interface AccountObjects {
  readonly serviceAccounts: ObjectReader;
  readonly pods: ObjectReader;
  readonly secrets: ObjectReader;
  readonly nodes: ObjectReader;
}
