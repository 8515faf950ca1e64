import { createHash, randomUUID } from 'node:crypto';
import { type GrpcClient, grpcStatus, hasGrpcStatus, Inbox } from '#base';
import { content, images, leases, namespaces, WRITE_METHOD, WriteRequest, WriteResponse } from './api.ts';

/** containerd's namespace for CRI. */
export const CRI_NAMESPACE = 'k8s.io';
const CALL_MS = 60_000;
const CHUNK_BYTES = 512 << 10;
/** How long imported content is kept without an image that references it. */
const LEASE_HOURS = 24;

export interface Blob {
  readonly digest: string;
  readonly size: number;
}

export interface Descriptor extends Blob {
  readonly mediaType: string;
}

/** containerd's content and image stores, with a lease that keeps what is written until `close`. */
export class ContentStore implements AsyncDisposable {
  readonly #client: GrpcClient;
  readonly #lease: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(client: GrpcClient, lease: string, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#lease = lease;
    this.#signal = signal;
  }

  static async open(
    client: GrpcClient,
    options: { readonly now: number; readonly signal?: AbortSignal | undefined },
  ): Promise<ContentStore> {
    const store = new ContentStore(client, `sampan-import-${randomUUID()}`, options.signal);
    await client.unary(namespaces.create, { namespace: { name: CRI_NAMESPACE } }, store.#call(false)).catch((error: unknown) => {
      if (!hasGrpcStatus(error, grpcStatus.alreadyExists)) throw error;
    });
    const expires = new Date(options.now + LEASE_HOURS * 3_600_000).toISOString();
    await client.unary(leases.create, { id: store.#lease, labels: { 'containerd.io/gc.expire': expires } }, store.#call(false));
    return store;
  }

  /** Releases content that no image references. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.unary(leases.delete, { id: this.#lease }, { timeoutMs: CALL_MS, metadata: METADATA });
  }

  /** Writes a blob unless it exists. */
  async write(data: AsyncIterable<Buffer> | Iterable<Buffer>, options: { readonly size: number; readonly digest?: string }): Promise<Blob> {
    const ref = `sampan-${randomUUID()}`;
    try {
      return await this.#write(ref, data, options);
    } catch (error) {
      await this.#client.unary(content.abort, { ref }, { timeoutMs: CALL_MS, metadata: METADATA }).catch(() => {});
      throw error;
    }
  }

  async #write(
    ref: string,
    data: AsyncIterable<Buffer> | Iterable<Buffer>,
    { size, digest = '' }: { readonly size: number; readonly digest?: string },
  ): Promise<Blob> {
    const inbox = new Inbox();
    const stream = this.#client.stream(WRITE_METHOD, { handler: inbox, metadata: this.#metadata(), signal: this.#signal });
    inbox.stream = stream;
    const responses = inbox.messages();
    const send = async (request: Parameters<typeof WriteRequest.encode>[0]) => {
      stream.send(WriteRequest.encode({ ref, total: size, expected: digest, ...request }));
      const { value, done } = await responses.next();
      if (done) throw new Error('containerd ended the import of a blob early');
      return WriteResponse.decode(value);
    };
    const hash = createHash('sha256');
    try {
      let offset = 0;
      for await (const part of data) {
        hash.update(part);
        for (let at = 0; at < part.length; at += CHUNK_BYTES) {
          const chunk = part.subarray(at, at + CHUNK_BYTES);
          await send({ action: 'write', offset, data: chunk });
          offset += chunk.length;
        }
      }
      const committed = await send({ action: 'commit', offset });
      return { digest: committed.digest, size };
    } catch (error) {
      if (!hasGrpcStatus(error, grpcStatus.alreadyExists)) throw error;
      // Without an expected digest containerd detects an existing blob only at the end.
      return { digest: digest === '' ? `sha256:${hash.digest('hex')}` : digest, size };
    } finally {
      stream.cancel();
    }
  }

  /** The whole of a small blob. */
  async read({ digest }: Pick<Blob, 'digest'>, maxBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const { data } of this.#client.serverStream(content.read, { digest }, this.#call())) {
      size += data.length;
      if (size > maxBytes) throw new Error(`${digest} has more than ${maxBytes} bytes`);
      parts.push(Buffer.from(data));
    }
    return Buffer.concat(parts);
  }

  /** The first bytes of a blob. */
  async readStart({ digest }: Pick<Blob, 'digest'>, length: number): Promise<Buffer> {
    for await (const { data } of this.#client.serverStream(content.read, { digest, size: length }, this.#call())) return Buffer.from(data);
    return Buffer.alloc(0);
  }

  async has(digest: string): Promise<boolean> {
    try {
      await this.#client.unary(content.info, { digest }, this.#call());
      return true;
    } catch (error) {
      if (hasGrpcStatus(error, grpcStatus.notFound)) return false;
      throw error;
    }
  }

  /** Adds garbage collection references from a blob to its children. */
  async refer(digest: string, children: ReadonlyMap<string, string>): Promise<void> {
    const labels = Object.fromEntries([...children].map(([name, child]) => [`containerd.io/gc.ref.content.${name}`, child]));
    const updateMask = { paths: Object.keys(labels).map((label) => `labels.${label}`) };
    await this.#client.unary(content.update, { info: { digest, labels }, updateMask }, this.#call());
  }

  /**
   * Names an image, replacing an existing image of that name. Without the label by which CRI knows its own images: it adds that itself, and with it
   * a name that is the image's id, which image volumes need.
   */
  async name(name: string, target: Descriptor): Promise<void> {
    const image = { name, target };
    try {
      await this.#client.unary(images.create, { image }, this.#call());
    } catch (error) {
      if (!hasGrpcStatus(error, grpcStatus.alreadyExists)) throw error;
      await this.#client.unary(images.update, { image }, this.#call());
    }
  }

  #metadata(): Record<string, string> {
    return { ...METADATA, 'containerd-lease': this.#lease };
  }

  #call(withLease = true) {
    return { timeoutMs: CALL_MS, signal: this.#signal, metadata: withLease ? this.#metadata() : METADATA };
  }
}

const METADATA = { 'containerd-namespace': CRI_NAMESPACE };
