import { encodeJson, type JsonValue, sameJson } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import { isTail, type ObjectEncoding, StoredObject } from './object-encoding.ts';

/** An object in one API version, and its encodings. */
export interface VersionedObject {
  readonly object: KubeObject;
  readonly revision: number;
  /** As JSON, with kind and apiVersion, and a newline at its end. Made anew each time. */
  json(): Buffer;
  /** How long that is without the newline. */
  readonly jsonLength: number;
  /** The same without the newline, in parts, of which none is made anew. */
  jsonParts(): JsonParts;
  /** Bytes of another media type, made by `encode` the first time. */
  encoded(mediaType: string, encode: (object: KubeObject) => Buffer): Buffer;
}

/** JSON that consists of `bytes`, but for a text that belongs in between, at `gap`. */
export interface JsonParts {
  readonly bytes: Buffer;
  readonly gap: number;
  readonly text: string;
}

abstract class Encodings {
  #others: Map<string, Buffer> | undefined;
  abstract readonly object: KubeObject;

  encoded(mediaType: string, encode: (object: KubeObject) => Buffer): Buffer {
    this.#others ??= new Map();
    let bytes = this.#others.get(mediaType);
    if (bytes === undefined) {
      bytes = encode(this.object);
      this.#others.set(mediaType, bytes);
    }
    return bytes;
  }
}

/** An object as the cache keeps it: in the version in which it is stored. */
export class CachedObject extends Encodings implements VersionedObject {
  readonly #stored: StoredObject;
  /** By how they are converted, not for whom: servers of several clusters may share the object. */
  #versions: Map<ServedResource['fromStored'] | ServedResource['remote'], VersionedObject> | undefined;

  private constructor(
    readonly key: string,
    readonly object: KubeObject,
    readonly revision: number,
    stored: StoredObject,
  ) {
    super();
    this.#stored = stored;
  }

  /** What the store holds under a key, as of a revision. */
  static of(key: string, revision: number, stored: StoredObject): CachedObject {
    return new CachedObject(key, versioned(stored.object, revision), revision, stored);
  }

  get encoding(): ObjectEncoding {
    return this.#stored.encoding;
  }

  json(): Buffer {
    return this.encoding.withRevision(this.#bytes, this.revision);
  }

  get jsonLength(): number {
    return this.#bytes.length + this.encoding.addedLength(this.revision);
  }

  jsonParts(): JsonParts {
    return { bytes: this.#bytes, gap: this.encoding.versionAt, text: this.encoding.versionText(this.revision) };
  }

  get #bytes(): Buffer {
    return this.#stored.bytes;
  }

  /** `,"spec":{…}` as it stands in the encoded object, when it has this very value and that place is known. */
  fieldBytes(field: string, value: unknown): Buffer | undefined {
    const { ends } = this.#stored;
    if (ends === undefined || this.object[field] !== value) return undefined;
    const index = tailIndex(this.object, field);
    const from = ends[index];
    const to = ends[index + 1];
    return from === undefined || to === undefined ? undefined : this.#bytes.subarray(from, to);
  }

  /** Whether `object` is what is stored. Fields may have changed places, which changes nothing. */
  equals(object: KubeObject): boolean {
    return haveSame(object, this.object, 'metadata') && haveSame(object.metadata, this.object.metadata, 'resourceVersion');
  }

  /** The same state under a later revision: what a deletion is announced with. */
  at(revision: number): CachedObject {
    return this.replacedBy(this.object, revision);
  }

  /** Another state of the same key, which the store does not hold. */
  replacedBy(object: KubeObject, revision: number): CachedObject {
    return CachedObject.of(this.key, revision, StoredObject.of(object, this.encoding, this));
  }

  /** Written when another version was the one to store. */
  get isOutdated(): boolean {
    const { apiVersion } = this.object;
    return apiVersion !== undefined && apiVersion !== this.encoding.apiVersion;
  }

  /** In the version that `resource` serves. One that has to be asked for elsewhere must have been loaded before. */
  as(resource: ServedResource): VersionedObject {
    const convert = resource.fromStored ?? resource.remote;
    if (convert === undefined || this.#isIn(resource)) return this;
    const version = this.#versions?.get(convert);
    if (version !== undefined) return version;
    if (resource.fromStored === undefined) throw new Error(`${this.key} has not been converted to ${resource.apiVersion}`);
    return this.keep(resource, resource.fromStored(this.object));
  }

  /** Whether `as` can answer. */
  isReadyFor(resource: ServedResource): boolean {
    return resource.remote === undefined || this.#isIn(resource) || this.#versions?.has(resource.remote) === true;
  }

  /** Remembers what the object is in the version that `resource` serves. */
  keep(resource: ServedResource, object: KubeObject): VersionedObject {
    const version = new ConvertedObject(object, this.revision);
    this.#versions ??= new Map();
    this.#versions.set(resource.fromStored ?? resource.remote, version);
    return version;
  }

  #isIn({ apiVersion }: ServedResource): boolean {
    return apiVersion === this.encoding.apiVersion && !this.isOutdated;
  }
}

/** An object that is not stored in this form: converted from another version, or the result of a dry run. */
export class ConvertedObject extends Encodings implements VersionedObject {
  #json: Buffer | undefined;

  constructor(
    readonly object: KubeObject,
    readonly revision: number,
  ) {
    super();
  }

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

/** Assigned, not spread: on this path, which every write takes, that is several times cheaper. */
function versioned(object: KubeObject, revision: number): KubeObject {
  const metadata = Object.assign({}, object.metadata, { resourceVersion: String(revision) });
  return Object.assign({}, object, { metadata });
}

/** Whether two objects are the same in all but one member. */
function haveSame(a: object, b: object, but: string): boolean {
  const [x, y] = [a as Record<string, JsonValue>, b as Record<string, JsonValue>];
  for (const key in x) if (key !== but && x[key] !== y[key] && !sameJson(x[key] ?? null, y[key] ?? null)) return false;
  for (const key in y) if (key !== but && y[key] !== undefined && x[key] === undefined) return false;
  return true;
}

/** Kind, apiVersion and metadata first, as every encoding of an object begins. */
export function encodeKindFirst(object: KubeObject): string {
  const { kind, apiVersion, metadata, ...rest } = object;
  return encodeJson({ kind, apiVersion, metadata, ...rest });
}
