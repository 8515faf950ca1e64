import { Lru } from '#base';
import { StatusError } from '#machinery';
import type { Store } from '#store';
import type { KubeObject } from './kube-object.ts';
import type { ObjectEncoding } from './object-encoding.ts';
import { Shells } from './shed-fields.ts';

/** A stored object. */
export interface Payload {
  readonly bytes: Buffer;
  /** Decoded on first access. */
  readonly object: KubeObject;
}

export interface PayloadReaderOptions {
  readonly store: Store;
  readonly encoding: ObjectEncoding;
  readonly revive?: (object: KubeObject, key: string) => KubeObject;
}

/** The number of cached payloads per resource: an object is often accessed several times in a row. */
const KEPT_PAYLOADS = 4;

/** Reads shed objects again. */
export class PayloadReader {
  readonly #options: PayloadReaderOptions;
  readonly #recent = new Lru<string, Payload>({ capacity: KEPT_PAYLOADS });

  /** Placeholders of objects that were shed before use. */
  readonly shells = new Shells(({ key, revision }) => this.read(key, revision).object);

  constructor(options: PayloadReaderOptions) {
    this.#options = options;
  }

  /** Whether the store supports synchronous reads. */
  get isPossible(): boolean {
    return this.#options.store.valueAt !== undefined;
  }

  /** Throws Expired when the store has compacted that revision. */
  read(key: string, revision: number): Payload {
    const id = `${revision} ${key}`;
    let payload = this.#recent.get(id);
    if (payload === undefined) {
      const value = this.#options.store.valueAt!(key, revision);
      if (value === undefined) throw StatusError.expired(`the object ${key} as of revision ${revision} is too old`);
      payload = this.decode(key, Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      this.#recent.set(id, payload);
    }
    return payload;
  }

  /** Decodes a stored value. */
  decode(key: string, bytes: Buffer): Payload {
    return new StoredPayload(key, bytes, this.#options);
  }
}

class StoredPayload implements Payload {
  #object: KubeObject | undefined;
  #bytes: Buffer;

  constructor(
    private readonly key: string,
    bytes: Buffer,
    private readonly options: PayloadReaderOptions,
  ) {
    this.#bytes = bytes;
  }

  /** The served form: objects converted by outdated rules are encoded again. */
  get bytes(): Buffer {
    if (this.options.revive !== undefined) void this.object;
    return this.#bytes;
  }

  get object(): KubeObject {
    if (this.#object !== undefined) return this.#object;
    const { revive, encoding } = this.options;
    const parsed = parseStored(this.#bytes);
    this.#object = revive?.(parsed, this.key) ?? parsed;
    if (this.#object !== parsed) this.#bytes = encoding.encodeStored(this.#object).bytes;
    return this.#object;
  }
}

const ENCRYPTED_PREFIX = 'k8s:enc:';

function parseStored(bytes: Buffer): KubeObject {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text) as KubeObject;
  } catch (error) {
    if (!text.startsWith(ENCRYPTED_PREFIX)) throw error;
    throw new Error('it is encrypted, and no provider of the encryption provider configuration is for it', { cause: error });
  }
}
