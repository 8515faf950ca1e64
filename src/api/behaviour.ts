import type { FieldError } from '#machinery';
import type { Kind } from './schema.ts';

/**
 * What the API does with objects of one kind, beyond their shape. All of it is pure: it never mutates what it is given, and returns the same
 * object when there is nothing to change.
 */
export interface KindBehaviour<T> {
  readonly kind: Kind<T>;
  /** Fills in what the client left out. Idempotent. */
  readonly defaults?: (object: T) => T;
  readonly validate?: (object: T) => readonly FieldError[];
  /** Runs instead of `validate` on an update: most call it and add the rules on what may not change. */
  readonly validateUpdate?: (object: T, old: T) => readonly FieldError[];
  /** Validation of an update of the status subresource. */
  readonly validateStatusUpdate?: (object: T, old: T) => readonly FieldError[];
  /** Warnings about an object as it was sent, returned even if it is then rejected. */
  readonly incomingWarnings?: (object: T) => readonly string[];
  /** Deprecations and likely mistakes, sent as Warning headers. `old` is absent on create. */
  readonly warnings?: (object: T, old?: T) => readonly string[];
  /** Fields that a field selector may name, besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  readonly table?: TableDefinition<T>;
}

export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number;
}

/** How `kubectl get` prints a kind. Cells follow the columns; ages are counted from `now` (milliseconds). */
export interface TableDefinition<T> {
  readonly columns: readonly TableColumn[];
  readonly cells: (object: T, now: number) => readonly (string | number | boolean | null)[];
  /** The order of the rows of a list. Default: that of the list. */
  readonly rowOrder?: (a: T, b: T) => number;
  /** Conditions of a row, such as `Completed` for a finished pod. */
  readonly rowConditions?: (object: T) => readonly { type: string; status: string; reason?: string; message?: string }[];
}
