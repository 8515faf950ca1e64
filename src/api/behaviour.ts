import type { FieldError } from '#machinery';
import type { Kind } from './schema.ts';

/**
 * The API behaviour of one kind, besides its schema. All functions are pure: they never mutate their input, and return the same object if nothing
 * changes.
 */
export interface KindBehaviour<T> {
  readonly kind: Kind<T>;
  /** Sets defaults. Idempotent. */
  readonly defaults?: (object: T) => T;
  readonly validate?: (object: T) => readonly FieldError[];
  /** Used instead of `validate` on updates: most call it and add rules about immutable fields. */
  readonly validateUpdate?: (object: T, old: T) => readonly FieldError[];
  /** Validation of an update of the status subresource. */
  readonly validateStatusUpdate?: (object: T, old: T) => readonly FieldError[];
  /** In place of these, for a validation that may take long: it pauses between its steps. */
  readonly validationSteps?: (object: T, change: ValidatedChange<T>) => Generator<void, readonly FieldError[]>;
  /** Warnings about an object as it was sent, returned even if it is rejected. */
  readonly incomingWarnings?: (object: T) => readonly string[];
  /** Deprecations and likely mistakes, sent as Warning headers. `old` is absent on create. */
  readonly warnings?: (object: T, old?: T) => readonly string[];
  /** Fields that a field selector may name, besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  readonly table?: TableDefinition<T>;
}

export interface ValidatedChange<T> {
  /** Absent on create. */
  readonly old: T | undefined;
  /** An update of the status subresource. */
  readonly isStatus: boolean;
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
  /** The order of rows in a table. Default: that of the list. */
  readonly rowOrder?: (a: T, b: T) => number;
  /** Conditions of a row, such as `Completed` for a finished pod. */
  readonly rowConditions?: (object: T) => readonly { type: string; status: string; reason?: string; message?: string }[];
}
