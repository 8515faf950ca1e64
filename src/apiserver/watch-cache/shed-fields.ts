import type { KubeObject } from './kube-object.ts';
import { isTail } from './object-encoding.ts';

/** Metadata is kept for selectors and the garbage collector, unless it is longer than this. */
const KEPT_METADATA_CHARS = 1024;

/**
 * Removes large fields from an object in place, for all its holders: they are read from the store on access. Small fields, such as names
 * and labels, stay.
 */
export function shedFields(object: KubeObject, read: () => KubeObject): void {
  for (const field in object) {
    if (isTail(field) && isLarge(object[field])) defineRead(object, field, () => read()[field]);
  }
  const metadata = object.metadata as unknown as Record<string, unknown>;
  for (const field in metadata) {
    if (!isKept(field, metadata[field])) defineRead(metadata, field, () => (read().metadata as unknown as Record<string, unknown>)[field]);
  }
}

function isKept(field: string, value: unknown): boolean {
  return field !== 'managedFields' && charsOf(value) <= KEPT_METADATA_CHARS;
}

function isLarge(value: unknown): boolean {
  return typeof value === 'string' ? value.length > KEPT_METADATA_CHARS : typeof value === 'object' && value !== null;
}

/** The length of labels, annotations and so on; counting stops at the limit. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let chars = 0;
  for (const key in value) {
    chars += key.length + charsOf((value as Record<string, unknown>)[key]);
    if (chars > KEPT_METADATA_CHARS) break;
  }
  return chars;
}

function defineRead(owner: object, field: string, get: () => unknown): void {
  Object.defineProperty(owner, field, { get, enumerable: true, configurable: true });
}

/** The key and revision of a shell. */
export interface ShellSource {
  readonly key: string;
  readonly revision: number;
}

const SOURCE = Symbol('source');
type Getter = (this: { readonly [SOURCE]: ShellSource }) => unknown;

/** The limit of shared getters; other fields (of custom resources) have their own. */
const SHARED_GETTERS = 100;

/**
 * Creates placeholders of objects that are shed before use. Their getters are shared, so that they have one hidden class:
 * a shell takes half the memory of an object that is shed in place.
 */
export class Shells {
  readonly #getters = new Map<string, Getter>();

  constructor(private readonly read: (source: ShellSource) => KubeObject) {}

  of(object: KubeObject, source: ShellSource): KubeObject {
    const fields = (of: KubeObject) => of;
    const metadataOf = ({ metadata }: KubeObject) => metadata;
    const metadata = this.#shell(object.metadata, source, { isKept, owner: metadataOf, place: 'metadata.' });
    const isKeptField = (field: string, value: unknown) => !isTail(field) || !isLarge(value);
    return this.#shell({ ...object, metadata }, source, { isKept: isKeptField, owner: fields, place: '' }) as KubeObject;
  }

  #shell(from: object, source: ShellSource, { isKept: keeps, owner, place }: ShellPart): object {
    const shell = Object.defineProperty({}, SOURCE, { value: source });
    for (const [field, value] of Object.entries(from)) {
      if (keeps(field, value)) (shell as Record<string, unknown>)[field] = value;
      else Object.defineProperty(shell, field, { get: this.#getter(field, { owner, place }), enumerable: true, configurable: true });
    }
    return shell;
  }

  #getter(field: string, { owner, place }: Pick<ShellPart, 'owner' | 'place'>): Getter {
    const name = place + field;
    const shared = this.#getters.get(name);
    if (shared !== undefined) return shared;
    const { read } = this;
    const getter: Getter = function () {
      return (owner(read(this[SOURCE])) as Record<string, unknown>)[field];
    };
    if (this.#getters.size < SHARED_GETTERS) this.#getters.set(name, getter);
    return getter;
  }
}

interface ShellPart {
  isKept(field: string, value: unknown): boolean;
  /** The part of the object that the shell represents. */
  readonly owner: (object: KubeObject) => object;
  readonly place: string;
}
