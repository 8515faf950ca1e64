import { encodeJson, type JsonValue, sameJson } from '#machinery';
import type { KubeObject } from './kube-object.ts';
import { isTail, type ObjectEncoding, StoredObject } from './object-encoding.ts';
import type { ObjectVersion } from './object-version.ts';
import type { PayloadReader } from './payload-reader.ts';
import { shedFields } from './shed-fields.ts';

/** An object in one API version, and its encodings. */
export interface VersionedObject {
  readonly object: KubeObject;
  readonly revision: number;
  /** JSON with kind and apiVersion, and a trailing newline. Built on each call. */
  json(): Buffer;
  /** Its length without the newline. */
  readonly jsonLength: number;
  /** The same without the newline, in shared parts. */
  jsonParts(): JsonParts;
}

/** JSON consisting of `bytes`, with a text inserted at `gap`. */
export interface JsonParts {
  readonly bytes: Buffer;
  readonly gap: number;
  readonly text: string;
}

/** A cached object, in its stored version. */
export class CachedObject implements VersionedObject {
  readonly #stored: StoredObject;
  /** Keyed by conversion function: servers of several clusters may share the object. */
  #versions: Map<ObjectVersion['fromStored'] | ObjectVersion['remote'], VersionedObject> | undefined;
  readonly #reader: PayloadReader | undefined;

  private constructor(
    readonly key: string,
    readonly object: KubeObject,
    readonly revision: number,
    { stored, reader }: { readonly stored: StoredObject; readonly reader: PayloadReader | undefined },
  ) {
    this.#stored = stored;
    this.#reader = reader;
  }

  /** A stored object at a revision. With a reader it can be shed. */
  static of(key: string, revision: number, stored: StoredObject, reader?: PayloadReader): CachedObject {
    return new CachedObject(key, stored.servedAt(revision), revision, { stored, reader });
  }

  /** Its stored size in memory; 0 when it was shed or cannot be. */
  get residentBytes(): number {
    return this.#reader === undefined || this.#stored.isShed ? 0 : (this.#stored.knownLength ?? 0);
  }

  /** Frees the object's large fields; they are read again on access. */
  shed(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#stored.isShed) return;
    const { key, revision } = this;
    const length = this.#stored.bytes.length;
    shedFields(this.object, () => reader.read(key, revision).object);
    this.#stored.shed(this.object, { length, read: () => reader.read(key, revision).bytes });
    // Webhook conversions cannot be repeated synchronously.
    for (const convert of this.#versions?.keys() ?? []) if (typeof convert === 'function') this.#versions!.delete(convert);
  }

  /** The same for an object without references, which saves more. */
  shedUnseen(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#stored.isShed) return;
    const { key, revision } = this;
    const { length } = this.#stored.bytes;
    (this as { object: KubeObject }).object = reader.shells.of(this.object, { key, revision });
    this.#stored.shed(this.object, { length, read: () => reader.read(key, revision).bytes });
  }

  get encoding(): ObjectEncoding {
    return this.#stored.encoding;
  }

  json(): Buffer {
    return this.encoding.withRevision(this.#bytes, this.revision);
  }

  get jsonLength(): number {
    return (this.#stored.knownLength ?? this.#bytes.length) + this.encoding.addedLength(this.revision);
  }

  jsonParts(): JsonParts {
    return { bytes: this.#bytes, gap: this.encoding.versionAt, text: this.encoding.versionText(this.revision) };
  }

  get #bytes(): Buffer {
    return this.#stored.bytes;
  }

  /** `,"spec":{…}` in the encoded object, if the field has this very value and its position is known. */
  fieldBytes(field: string, value: unknown): Buffer | undefined {
    const { ends } = this.#stored;
    if (ends === undefined || this.object[field] !== value) return undefined;
    const index = tailIndex(this.object, field);
    const from = ends[index];
    const to = ends[index + 1];
    return from === undefined || to === undefined ? undefined : this.#bytes.subarray(from, to);
  }

  /** Whether `object` equals the stored one, regardless of field order. */
  equals(object: KubeObject): boolean {
    return haveSame(object, this.object, 'metadata') && haveSame(object.metadata, this.object.metadata, 'resourceVersion');
  }

  /** The same state at a later revision, for deletion events. */
  at(revision: number): CachedObject {
    return this.#stored.isShed ? this.#shedAt(revision) : this.replacedBy(this.object, revision);
  }

  #shedAt(revision: number): CachedObject {
    const { encoding, knownLength } = this.#stored;
    const object = shellWith(this.object, revision);
    const stored = StoredObject.shed(object, encoding, { length: knownLength!, read: () => this.#bytes });
    return new CachedObject(this.key, object, revision, { stored, reader: this.#reader });
  }

  /** Another state of the same key that is not stored. */
  replacedBy(object: KubeObject, revision: number): CachedObject {
    return CachedObject.of(this.key, revision, StoredObject.of(object, this.encoding, this));
  }

  /** Whether it is stored in an outdated version. */
  get isOutdated(): boolean {
    const { apiVersion } = this.object;
    return apiVersion !== undefined && apiVersion !== this.encoding.apiVersion;
  }

  /** In the version of `resource`. Webhook conversions must be loaded before. */
  as(resource: ObjectVersion): VersionedObject {
    const convert = resource.fromStored ?? resource.remote;
    if (convert === undefined || this.#isIn(resource)) return this;
    const version = this.#versions?.get(convert);
    if (version !== undefined) return version;
    if (resource.fromStored === undefined) throw new Error(`${this.key} has not been converted to ${resource.apiVersion}`);
    const object = resource.fromStored(this.object);
    return this.encoding.keepsBytes ? this.keep(resource, object) : new ConvertedObject(object, this.revision);
  }

  /** Whether `as` can convert synchronously. */
  isReadyFor(resource: ObjectVersion): boolean {
    return resource.remote === undefined || this.#isIn(resource) || this.#versions?.has(resource.remote) === true;
  }

  /** Caches the converted object. */
  keep(resource: ObjectVersion, object: KubeObject): VersionedObject {
    const version = new ConvertedObject(object, this.revision);
    this.#versions ??= new Map();
    this.#versions.set(resource.fromStored ?? resource.remote, version);
    return version;
  }

  #isIn({ apiVersion }: ObjectVersion): boolean {
    return apiVersion === this.encoding.apiVersion && !this.isOutdated;
  }
}

/** An object that is not stored in this form: converted from another version, or the result of a dry run. */
export class ConvertedObject implements VersionedObject {
  #json: Buffer | undefined;

  constructor(
    readonly object: KubeObject,
    readonly revision: number,
  ) {}

  json(): Buffer {
    this.#json ??= Buffer.from(`${encodeKindFirst(this.object)}\n`);
    return this.#json;
  }

  get jsonLength(): number {
    return this.json().length - 1;
  }

  jsonParts(): JsonParts {
    const bytes = this.json().subarray(0, -1);
    return { bytes, gap: bytes.length, text: '' };
  }
}

function tailIndex(object: KubeObject, field: string): number {
  let index = 0;
  for (const name in object) {
    if (name === field) return index;
    if (isTail(name)) index++;
  }
  return -1;
}

/** A copy that reads no shed fields. */
function shellWith(object: KubeObject, revision: number): KubeObject {
  const { metadata, ...fields } = Object.getOwnPropertyDescriptors(object) as PropertyDescriptorMap;
  const shellMetadata = Object.defineProperties({}, Object.getOwnPropertyDescriptors(metadata!.value));
  Object.assign(shellMetadata, { resourceVersion: String(revision) });
  return Object.defineProperties({ metadata: shellMetadata } as KubeObject, fields);
}

/** Whether two objects are equal except for one member. */
function haveSame(a: object, b: object, but: string): boolean {
  const [x, y] = [a as Record<string, JsonValue>, b as Record<string, JsonValue>];
  for (const key in x) if (key !== but && x[key] !== y[key] && !sameJson(x[key] ?? null, y[key] ?? null)) return false;
  for (const key in y) if (key !== but && y[key] !== undefined && x[key] === undefined) return false;
  return true;
}

/** Encodes kind, apiVersion and metadata first. */
export function encodeKindFirst(object: KubeObject): string {
  const { kind, apiVersion, metadata, ...rest } = object;
  return encodeJson({ kind, apiVersion, metadata, ...rest });
}
