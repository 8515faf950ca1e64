import type { ObjectReader } from '../object-reader.ts';

/** The objects that tokens of service accounts speak of. */
export interface AccountObjects {
  readonly serviceAccounts: ObjectReader;
  readonly pods: ObjectReader;
  readonly secrets: ObjectReader;
  readonly nodes: ObjectReader;
}
