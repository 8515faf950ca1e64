import { encodeJson } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';

const NEWLINE = 0x0a;

/**
 * How objects of one kind and version stand as JSON, in the store and on the wire. Kind, apiVersion and metadata come first, always in this
 * order, so that the resource version (which the store assigns, and which is therefore not in the stored bytes) can be spliced in at a known
 * place without parsing or encoding anything again.
 */
export class ObjectEncoding {
  /** `{"kind":"Pod","apiVersion":"v1",` */
  readonly head: Buffer;
  /** The same with `"metadata":{` behind it. */
  readonly #intro: string;
  readonly #introBytes: Buffer;

  constructor(
    readonly kind: string,
    readonly apiVersion: string,
  ) {
    const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
    this.head = Buffer.from(head);
    this.#intro = `${head}"metadata":{`;
    this.#introBytes = Buffer.from(this.#intro);
  }

  /** The bytes to store: the object without its resource version. */
  encodeStored(object: KubeObject): Buffer {
    const { metadata } = object;
    let text = this.#intro + encodeJson(metadata.resourceVersion === undefined ? metadata : withoutVersion(metadata)).slice(1);
    for (const field in object) {
      if (field === 'metadata' || field === 'kind' || field === 'apiVersion') continue;
      const value = object[field];
      if (value !== undefined) text += `,${JSON.stringify(field)}:${encodeJson(value)}`;
    }
    return Buffer.from(`${text}}`);
  }

  /** Stored bytes as they are served: with their resource version, and the newline that ends every document. */
  withRevision(stored: Uint8Array, revision: number): Buffer {
    const version = `"resourceVersion":"${revision}",`;
    const intro = this.#introBytes.length;
    const bytes = Buffer.allocUnsafe(stored.length + version.length + 1);
    bytes.set(stored.subarray(0, intro), 0);
    bytes.write(version, intro, 'latin1');
    bytes.set(stored.subarray(intro), intro + version.length);
    bytes[bytes.length - 1] = NEWLINE;
    return bytes;
  }

  /** How long the stored form of served bytes is. */
  storedLength(served: Buffer, revision: number): number {
    return served.length - 1 - `"resourceVersion":"${revision}",`.length;
  }

  /** Whether `served` is `stored` with a resource version. */
  isSame(served: Buffer, stored: Buffer): boolean {
    const added = served.length - 1 - stored.length;
    const intro = this.#introBytes.length;
    return added > 0 && served.compare(stored, intro, stored.length, intro + added, served.length - 1) === 0;
  }
}

function withoutVersion({ resourceVersion: _, ...metadata }: KubeObject['metadata']): object {
  return metadata;
}
