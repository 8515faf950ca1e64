import { encodeJson, encodeManagedFields, type JsonValue, type ManagedFieldsEntry, textOnce } from '#machinery';
import type { LazyValue } from '#store';
import type { KubeObject } from '../registry/kube-object.ts';
import type { CachedObject } from './cached-object.ts';
import { lengthBound } from './length-bound.ts';

const NEWLINE = 0x0a;

/** An encoded object, and where in it the metadata and each field behind it end, in the order of the object's fields. */
interface Encoded {
  readonly bytes: Buffer;
  readonly ends?: readonly number[] | undefined;
}

/** An object in the form in which it is stored: without its resource version. It is encoded when somebody needs the bytes. */
export class StoredObject implements LazyValue {
  #encoded: Encoded | undefined;
  #like: CachedObject | undefined;

  private constructor(
    readonly object: KubeObject,
    readonly encoding: ObjectEncoding,
    from: { readonly encoded?: Encoded; readonly like?: CachedObject | undefined },
  ) {
    this.#encoded = from.encoded;
    this.#like = from.like;
  }

  /** What it shares with `like` is copied from there, where that is encoded. */
  static of(object: KubeObject, encoding: ObjectEncoding, like?: CachedObject): StoredObject {
    return new StoredObject(object, encoding, { like });
  }

  /** What the store holds, decoded as `object`. */
  static read(object: KubeObject, encoding: ObjectEncoding, bytes: Buffer): StoredObject {
    return new StoredObject(object, encoding, { encoded: { bytes } });
  }

  get bytes(): Buffer {
    if (this.#encoded === undefined) {
      this.#encoded = this.encoding.encodeStored(this.object, this.#like);
      this.#like = undefined;
    }
    return this.#encoded.bytes;
  }

  get mostBytes(): number {
    return this.#encoded?.bytes.length ?? lengthBound(this.object);
  }

  /** Where its parts end; undefined while that is not known. */
  get ends(): readonly number[] | undefined {
    return this.#encoded?.ends;
  }

  /** From now on the object that it came from is not kept for the case that this one is encoded: that one would keep another, and so on. */
  detach(): void {
    this.#like = undefined;
  }
}

/**
 * How objects of one kind and version stand as JSON, in the store and on the wire. Kind, apiVersion and metadata come first, always in this
 * order, so that the resource version (which the store assigns, and which is therefore not in the stored bytes) can be spliced in at a known
 * place without parsing or encoding anything again.
 */
export class ObjectEncoding {
  /** `{"kind":"Pod","apiVersion":"v1","metadata":{` */
  readonly #intro: string;
  /** Where the resource version belongs in the stored bytes: behind the intro. */
  readonly versionAt: number;
  readonly #kept = new KeptMemory();

  constructor(
    readonly kind: string,
    readonly apiVersion: string,
  ) {
    this.#intro = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`;
    this.versionAt = Buffer.byteLength(this.#intro);
  }

  /** What to store: the object without its resource version. What it shares with `like` is copied from there. */
  encodeStored(object: KubeObject, like?: CachedObject): Encoded {
    const head = this.#intro + metadataText(object.metadata);
    return like === undefined ? encodeWhole(head, object, this.#kept) : encodeChanged(head, object, { like, kept: this.#kept });
  }

  /** Stored bytes as they are served: with their resource version, and the newline that ends every document. */
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

  /** What is served but not stored. */
  versionText(revision: number): string {
    return `"resourceVersion":"${revision}",`;
  }

  addedLength(revision: number): number {
    return VERSION_MARKUP + String(revision).length;
  }
}

const VERSION_MARKUP = '"resourceVersion":"",'.length;

/** Whether a field stands behind the metadata. */
export function isTail(field: string): boolean {
  return field !== 'metadata' && field !== 'kind' && field !== 'apiVersion';
}

function encodeWhole(head: string, object: KubeObject, kept: KeptMemory): Encoded {
  let text = head;
  const ends = [text.length];
  for (const field in object) {
    if (!isTail(field)) continue;
    const value = object[field];
    if (value !== undefined) text += `,${JSON.stringify(field)}:${encodeField(value as JsonValue)}`;
    ends.push(text.length);
  }
  text += '}';
  const bytes = kept.take(Buffer.byteLength(text));
  bytes.write(text);
  // Positions in the text are positions in the bytes only where every character is one byte.
  return { bytes, ends: bytes.length === text.length ? ends : undefined };
}

function encodeField(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? encodeOnce(value) : encodeJson(value);
}

const encodeOnce = textOnce(encodeJson);

interface Base {
  readonly like: CachedObject;
  readonly kept: KeptMemory;
}

function encodeChanged(head: string, object: KubeObject, { like, kept }: Base): Encoded {
  const pieces: (Buffer | string)[] = [head];
  let length = Buffer.byteLength(head);
  const ends = [length];
  for (const field in object) {
    if (!isTail(field)) continue;
    const value = object[field];
    const piece =
      like.fieldBytes(field, value) ?? (value === undefined ? '' : `,${JSON.stringify(field)}:${encodeField(value as JsonValue)}`);
    pieces.push(piece);
    length += Buffer.byteLength(piece);
    ends.push(length);
  }
  const bytes = kept.take(length + 1);
  let at = 0;
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at);
  bytes[at] = CLOSING;
  return { bytes, ends };
}

const CLOSING = 0x7d;

const BLOCK_BYTES = 8 * 1024;
const SMALL_BYTES = 1024;

/**
 * Memory for what stays as long as its object: not of Node's pool, all of which a part of it would keep. Small objects, such as leases that are
 * renewed all the time, share blocks, since they cost more to allocate than to write; those of one kind come and go alike.
 */
class KeptMemory {
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
