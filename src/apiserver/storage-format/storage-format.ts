import { mapMaybePromise } from '#base';
import {
  decodeEnvelope,
  decodeObject,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  isEnvelope,
  type JsonObject,
  type ObjectSchema,
} from '#machinery';
import { type DecryptedValue, StoredFormatError, type Transformer } from '../storage-encryption/transformer.ts';
import { encodeKindFirst } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { ObjectEncoding } from '../watch-cache/object-encoding.ts';

export type StorageMediaType = 'application/json' | 'application/vnd.kubernetes.protobuf';

/** A stored version of a kind, with its conversion to and from the internal version. */
export interface StoredVersion {
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  readonly toInternal: (object: KubeObject) => KubeObject;
  readonly fromInternal: (object: KubeObject) => KubeObject;
}

/** The stored forms of one kind. */
export interface StoredKind {
  readonly kind: string;
  /** The internal version. */
  readonly apiVersion: string;
  /** Undefined for custom resources, which are always JSON and converted elsewhere. */
  readonly versions: ReadonlyMap<string, StoredVersion> | undefined;
  /** The version to write, as upstream; default: the internal one. */
  readonly written?: string | undefined;
  /** Always JSON, as upstream. */
  readonly isJsonOnly?: boolean | undefined;
  /** Sets fields that older servers omitted. */
  readonly defaults?: ((object: KubeObject) => KubeObject) | undefined;
}

const OPENING_BRACE = 0x7b;

/**
 * Upstream's storage format in etcd, so that either server reads what the other wrote. The rest of this server uses one
 * format: JSON with kind, apiVersion and metadata first.
 */
export function storageFormat(stored: StoredKind, mediaType: StorageMediaType): Transformer {
  return new StorageFormat(stored, mediaType);
}

class StorageFormat implements Transformer {
  readonly #stored: StoredKind;
  readonly #encoding: ObjectEncoding;
  /** The prefix of values in this server's format. */
  readonly #intro: Buffer;
  readonly #written: StoredVersion | undefined;
  readonly #isProtobuf: boolean;

  constructor(stored: StoredKind, mediaType: StorageMediaType) {
    const { kind, apiVersion, versions, written = apiVersion } = stored;
    this.#stored = stored;
    this.#encoding = new ObjectEncoding(kind, apiVersion);
    const version = versions === undefined ? '' : `${JSON.stringify(apiVersion)},"metadata":{`;
    this.#intro = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${version}`);
    this.#isProtobuf = versions !== undefined && !stored.isJsonOnly && mediaType === 'application/vnd.kubernetes.protobuf';
    this.#written = this.#isProtobuf || written !== apiVersion ? versions?.get(written) : undefined;
  }

  encrypt(plain: Buffer): Buffer {
    if (this.#written === undefined) return plain;
    const { apiVersion, schema, fromInternal } = this.#written;
    const object = fromInternal(JSON.parse(plain.toString('utf8')) as KubeObject);
    if (!this.#isProtobuf) return Buffer.from(encodeKindFirst(object));
    const { kind } = this.#stored;
    return encodeEnvelope({ kind, apiVersion }, encodeProtobuf(schema, object as unknown as JsonObject));
  }

  decrypt(stored: Buffer): DecryptedValue {
    if (isEnvelope(stored)) return this.#fromProtobuf(stored);
    if (this.#hasIntro(stored)) return { bytes: stored, isStale: this.#written !== undefined };
    if (stored[0] !== OPENING_BRACE) return { bytes: stored, isStale: false };
    return this.#fromJson(JSON.parse(stored.toString('utf8')) as KubeObject);
  }

  #hasIntro(stored: Buffer): boolean {
    const { length } = this.#intro;
    return stored.length > length && stored.compare(this.#intro, 0, length, 0, length) === 0;
  }

  #fromProtobuf(stored: Buffer): DecryptedValue {
    const { kind, apiVersion, message } = decodeEnvelope(stored);
    const version = this.#version(kind, apiVersion);
    const object = { ...decodeProtobuf(version.schema, message), kind, apiVersion } as unknown as KubeObject;
    return { bytes: this.#internal(version, object), isStale: !this.#isProtobuf || version !== this.#written };
  }

  #fromJson(value: KubeObject): DecryptedValue {
    if (this.#stored.versions === undefined) return { bytes: Buffer.from(encodeKindFirst(value)), isStale: false };
    const { kind, apiVersion } = value as { kind?: string; apiVersion?: string };
    const version = this.#version(kind ?? '', apiVersion ?? '');
    const { object } = decodeObject(version.schema, value as unknown as JsonObject);
    const complete = { ...object, kind, apiVersion } as unknown as KubeObject;
    return { bytes: this.#internal(version, complete), isStale: this.#isProtobuf || version !== (this.#written ?? version) };
  }

  #version(kind: string, apiVersion: string): StoredVersion {
    const version = kind === this.#stored.kind ? this.#stored.versions?.get(apiVersion) : undefined;
    if (version === undefined) throw new StoredFormatError(`no kind "${kind}" is registered for version "${apiVersion}"`);
    return version;
  }

  #internal(version: StoredVersion, object: KubeObject): Buffer {
    const internal = version.toInternal(object);
    return this.#encoding.encodeStored(this.#stored.defaults?.(internal) ?? internal).bytes;
  }
}

/** Encrypts formatted values. A value is stale when either would store it differently. */
export function encryptedFormat(format: Transformer, encryption: Transformer): Transformer {
  return {
    encrypt: (plain, key) => encryption.encrypt(format.encrypt(plain, key), key),
    decrypt: (stored, key) =>
      mapMaybePromise(encryption.decrypt(stored, key), ({ bytes, isStale }) =>
        mapMaybePromise(format.decrypt(bytes, key), (plain) => ({ bytes: plain.bytes, isStale: isStale || plain.isStale })),
      ),
  };
}
