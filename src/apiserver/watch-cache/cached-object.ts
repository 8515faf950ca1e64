import { encodeJson, type JsonValue, sameJson } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import { isTail, type ObjectEncoding, type StoredObject } from './object-encoding.ts';

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
  #stored: Buffer | undefined;
  readonly #ends: readonly number[] | undefined;
  /** Whose fields may be copied when this one is encoded. */
  #like: CachedObject | undefined;
  /** By how they are converted, not for whom: servers of several clusters may share the object. */
  #versions: Map<ServedResource['fromStored'], VersionedObject> | undefined;

  private constructor(
    readonly key: string,
    readonly object: KubeObject,
    readonly revision: number,
    readonly encoding: ObjectEncoding,
    stored: StoredObject | undefined,
    like?: CachedObject,
  ) {
    super();
    this.#stored = stored?.bytes;
    this.#ends = stored?.ends;
    this.#like = like;
  }

  /** From what the store holds. `object` is the value that `stored` encodes, with or without its resource version. */
  static of({
    key,
    object,
    revision,
    encoding,
    stored,
  }: {
    key: string;
    object: KubeObject;
    revision: number;
    encoding: ObjectEncoding;
    stored: StoredObject;
  }): CachedObject {
    return new CachedObject(key, versioned(object, revision), revision, encoding, stored);
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
    if (this.#stored === undefined) {
      this.#stored = this.encoding.encodeStored(this.object, this.#like).bytes;
      this.#like = undefined;
    }
    return this.#stored;
  }

  /** `,"spec":{…}` as it stands in the encoded object, when it has this very value and that place is known. */
  fieldBytes(field: string, value: unknown): Buffer | undefined {
    if (this.#ends === undefined || this.object[field] !== value) return undefined;
    const index = tailIndex(this.object, field);
    const from = this.#ends[index];
    const to = this.#ends[index + 1];
    return from === undefined || to === undefined ? undefined : this.#bytes.subarray(from, to);
  }

  /** Whether `object`, encoded as `bytes`, is what is stored. Fields may have changed places, which changes nothing. */
  storedEquals(bytes: Buffer, object: KubeObject): boolean {
    const stored = this.#bytes;
    return bytes.length === stored.length && (bytes.equals(stored) || sameBut(object, this.object));
  }

  /** The same state under a later revision: what a deletion is announced with. */
  at(revision: number): CachedObject {
    return this.replacedBy(this.object, revision);
  }

  /** Another state of the same key, which the store does not hold. */
  replacedBy(object: KubeObject, revision: number): CachedObject {
    return new CachedObject(this.key, versioned(object, revision), revision, this.encoding, undefined, this);
  }

  /** In the version that `resource` serves. */
  as(resource: ServedResource): VersionedObject {
    if (resource.fromStored === undefined) return this;
    this.#versions ??= new Map();
    let version = this.#versions.get(resource.fromStored);
    if (version === undefined) {
      version = new ConvertedObject(resource.fromStored(this.object), this.revision);
      this.#versions.set(resource.fromStored, version);
    }
    return version;
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

/** Whether two objects differ at most in their resource version. */
function sameBut(object: KubeObject, stored: KubeObject): boolean {
  return haveSame(object, stored, 'metadata') && haveSame(object.metadata, stored.metadata, 'resourceVersion');
}

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
