import { encodeJson, encodeManagedFields, goJsonEscape, type JsonValue, type ManagedFieldsEntry, textOnce } from '#machinery';
import type { LazyValue } from '#store';
import type { CachedObject } from './cached-object.ts';
import type { KubeObject } from './kube-object.ts';
import { lengthBound } from './length-bound.ts';

const NEWLINE = 0x0a;

/** An encoded object with the end offsets of its metadata and of each later field, in order. */
interface EncodedObject {
  readonly bytes: Buffer;
  readonly ends?: readonly number[] | undefined;
}

/** The bytes of a shed object. */
interface ShedBytes {
  readonly length: number;
  read(): Buffer;
}

/** An object as it is stored, without its resourceVersion. Encoded on first use. */
export class StoredObject implements LazyValue {
  #object: KubeObject;
  #encoded: EncodedObject | undefined;
  #like: CachedObject | undefined;
  #shed: ShedBytes | undefined;
  /** For bytes that are encoded again for each reader. */
  #releasedLength: number | undefined;

  private constructor(
    object: KubeObject,
    readonly encoding: ObjectEncoding,
    from: { readonly encoded?: EncodedObject; readonly like?: CachedObject | undefined },
  ) {
    this.#object = object;
    this.#encoded = from.encoded;
    this.#like = from.like;
  }

  /** Unchanged parts are copied from `like`, if it is encoded. */
  static of(object: KubeObject, encoding: ObjectEncoding, like?: CachedObject): StoredObject {
    return new StoredObject(object, encoding, { like });
  }

  /** Stored bytes, decoded as `object`. */
  static read(object: KubeObject, encoding: ObjectEncoding, bytes: Buffer): StoredObject {
    const stored = new StoredObject(object, encoding, { encoded: { bytes } });
    // What an older server or another program wrote may have been encoded in another way.
    if (!encoding.keepsBytes && encoding.encodeStored(object).bytes.equals(bytes)) stored.#release();
    return stored;
  }

  /** A shed object: its fields are read from the store on access, its bytes each time. */
  static shed(object: KubeObject, encoding: ObjectEncoding, bytes: ShedBytes): StoredObject {
    const stored = new StoredObject(object, encoding, {});
    stored.shed(object, bytes);
    return stored;
  }

  shed(object: KubeObject, bytes: ShedBytes): void {
    this.#object = object;
    this.#encoded = undefined;
    this.#like = undefined;
    this.#shed = bytes;
  }

  get object(): KubeObject {
    return this.#object;
  }

  /**
   * The object as served at a revision, which replaces the object held so far: two copies would differ only in the resource version, which
   * the encoding leaves out.
   */
  servedAt(revision: number): KubeObject {
    const resourceVersion = String(revision);
    const { metadata } = this.#object;
    if (metadata.resourceVersion !== resourceVersion) this.#object = { ...this.#object, metadata: { ...metadata, resourceVersion } };
    return this.#object;
  }

  get isShed(): boolean {
    return this.#shed !== undefined;
  }

  get bytes(): Buffer {
    if (this.#shed !== undefined) return this.#shed.read();
    if (this.#encoded !== undefined) return this.#encoded.bytes;
    const encoded = this.encoding.encodeStored(this.object, this.#like);
    if (this.#releasedLength === undefined) this.#encoded = encoded;
    this.#like = undefined;
    return encoded.bytes;
  }

  /** Undefined until it is encoded. */
  get knownLength(): number | undefined {
    return this.#shed?.length ?? this.#encoded?.bytes.length ?? this.#releasedLength;
  }

  get mostBytes(): number {
    return this.knownLength ?? lengthBound(this.object);
  }

  /** The end offsets of its parts; undefined when unknown. */
  get ends(): readonly number[] | undefined {
    return this.#encoded?.ends;
  }

  /** It is written: drops its bytes where they are seldom read, and the previous object, so that objects do not form a chain. */
  detach(): void {
    this.#like = undefined;
    if (!this.encoding.keepsBytes) this.#release();
  }

  #release(): void {
    this.#releasedLength = this.#encoded?.bytes.length ?? this.#releasedLength;
    this.#encoded = undefined;
  }
}

export interface ObjectEncodingOptions {
  /** Whether bytes and other versions stay in memory once they are made. Otherwise they are encoded for each reader, from the decoded object. */
  readonly keepsBytes?: boolean;
  /** Fields of any shape (RawExtension), in which Go's clients compare bytes: they are escaped as Go's encoder does. */
  readonly rawFields?: ReadonlySet<string>;
}

/**
 * The JSON form of objects of one kind and version, in the store and on the wire. Kind, apiVersion and metadata come first, in this
 * order, so that the resource version (assigned by the store, and therefore not in the stored bytes) can be inserted at a known
 * offset without parsing or encoding.
 */
export class ObjectEncoding {
  /** `{"kind":"Pod","apiVersion":"v1","metadata":{` */
  readonly #intro: string;
  /** The offset of the resource version: after the intro. */
  readonly versionAt: number;
  readonly #sharedBlocks = new SharedBlocks();
  readonly keepsBytes: boolean;
  readonly #rawFields: ReadonlySet<string>;

  constructor(
    readonly kind: string,
    readonly apiVersion: string,
    { keepsBytes = true, rawFields = NO_FIELDS }: ObjectEncodingOptions = {},
  ) {
    this.keepsBytes = keepsBytes;
    this.#rawFields = rawFields;
    this.#intro = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`;
    this.versionAt = Buffer.byteLength(this.#intro);
  }

  /** Encodes the object without its resource version. Unchanged parts are copied from `like`. */
  encodeStored(object: KubeObject, like?: CachedObject): EncodedObject {
    const head = this.#intro + metadataText(object.metadata);
    const shared = { sharedBlocks: this.#sharedBlocks, rawFields: this.#rawFields };
    return like === undefined ? encodeWhole(head, object, shared) : encodeChanged(head, object, { ...shared, like });
  }

  /** The served form: stored bytes with the resource version and a trailing newline. */
  withRevision(stored: Buffer, revision: number): Buffer {
    const version = this.versionText(revision);
    const intro = this.versionAt;
    const bytes = Buffer.allocUnsafe(stored.length + version.length + 1);
    stored.copy(bytes, 0, 0, intro);
    bytes.write(version, intro, 'latin1');
    stored.copy(bytes, intro + version.length, intro);
    bytes[bytes.length - 1] = NEWLINE;
    return bytes;
  }

  /** The inserted resource version. */
  versionText(revision: number): string {
    return `"resourceVersion":"${revision}",`;
  }

  addedLength(revision: number): number {
    return VERSION_MARKUP + String(revision).length;
  }
}

const NO_FIELDS: ReadonlySet<string> = new Set();
const VERSION_MARKUP = '"resourceVersion":"",'.length;

/** Whether a field comes after metadata. */
export function isTail(field: string): boolean {
  return field !== 'metadata' && field !== 'kind' && field !== 'apiVersion';
}

function encodeWhole(head: string, object: KubeObject, { sharedBlocks, rawFields }: Shared): EncodedObject {
  let text = head;
  const ends = [text.length];
  for (const field in object) {
    if (!isTail(field)) continue;
    const value = object[field];
    if (value !== undefined) text += fieldText(field, value as JsonValue, rawFields);
    ends.push(text.length);
  }
  text += '}';
  const bytes = sharedBlocks.take(Buffer.byteLength(text));
  bytes.write(text);
  // String offsets equal byte offsets only for ASCII.
  return { bytes, ends: bytes.length === text.length ? ends.slice() : undefined };
}

function fieldText(field: string, value: JsonValue, rawFields: ReadonlySet<string>): string {
  const text = encodeField(value);
  return `,${JSON.stringify(field)}:${rawFields.has(field) ? goJsonEscape(text) : text}`;
}

function encodeField(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? encodeOnce(value) : encodeJson(value);
}

const encodeOnce = textOnce(encodeJson);

interface Shared {
  readonly sharedBlocks: SharedBlocks;
  readonly rawFields: ReadonlySet<string>;
}

function encodeChanged(
  head: string,
  object: KubeObject,
  { like, sharedBlocks, rawFields }: Shared & { readonly like: CachedObject },
): EncodedObject {
  const pieces: (Buffer | string)[] = [head];
  let length = Buffer.byteLength(head);
  const ends = [length];
  for (const field in object) {
    if (!isTail(field)) continue;
    const value = object[field];
    const piece = like.fieldBytes(field, value) ?? (value === undefined ? '' : fieldText(field, value as JsonValue, rawFields));
    pieces.push(piece);
    length += Buffer.byteLength(piece);
    ends.push(length);
  }
  const bytes = sharedBlocks.take(length + 1);
  let at = 0;
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at);
  bytes[at] = CLOSING;
  // A copy has no room left for more.
  return { bytes, ends: ends.slice() };
}

const CLOSING = 0x7d;

const BLOCK_BYTES = 8 * 1024;
const SMALL_BYTES = 1024;

/**
 * Memory with the lifetime of its object: not from Node's pool, which a slice would retain. Small objects, such as frequently renewed
 * leases, share blocks, since allocation costs more than writing; objects of one kind have similar lifetimes.
 */
class SharedBlocks {
  #block: Buffer = Buffer.alloc(0);
  #used = 0;

  take(length: number): Buffer {
    if (length > SMALL_BYTES) return Buffer.allocUnsafeSlow(length);
    if (this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += length;
    return this.#block.subarray(from, this.#used);
  }
}

/** Without the opening brace, and without the resource version. */
function metadataText(metadata: KubeObject['metadata']): string {
  let text = '';
  for (const key in metadata) {
    const value = metadata[key as keyof typeof metadata];
    if (value === undefined || key === 'resourceVersion') continue;
    const isManaged = key === 'managedFields' && Array.isArray(value);
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${isManaged ? encodeManagedFields(value as readonly ManagedFieldsEntry[]) : encodeJson(value)}`;
  }
  return `${text}}`;
}
