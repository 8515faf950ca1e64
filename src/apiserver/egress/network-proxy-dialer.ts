import { Duplex } from 'node:stream';
import { type Clock, type Dialer, type DialTarget, GrpcConnection, type GrpcStream, type MessageOf, type Random, targetText } from '#base';
import { PACKET, Packet, PROXY_METHOD } from './network-proxy-messages.ts';

export interface NetworkProxyDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** As upstream's client. */
const DIAL_TIMEOUT_MS = 30_000;
/** Larger writes are cut: the agent's messages are limited. */
const MAX_DATA_BYTES = 32 * 1024;

/** Connects through a network proxy that speaks gRPC on a unix socket: one gRPC connection per tunnel, as upstream. */
export function networkProxyDialer(socketPath: string, { clock, random }: NetworkProxyDeps): Dialer {
  return (target) =>
    new Promise((resolve, reject) => {
      const connection = new GrpcConnection({ endpoint: `unix://${socketPath}`, clock, connectTimeoutMs: DIAL_TIMEOUT_MS });
      const tunnel = new Tunnel(connection, target, BigInt(random.int(2 ** 31)));
      const timer = clock.setTimer(DIAL_TIMEOUT_MS, () => tunnel.destroy(new Error('dial timeout, backstop')));
      tunnel.once('close', () => {
        timer.cancel();
        connection.close();
        reject(new Error('the proxy ended the dial'));
      });
      tunnel.once('error', reject);
      tunnel.once('connect', () => {
        timer.cancel();
        tunnel.off('error', reject);
        resolve(tunnel);
      });
    });
}

class Tunnel extends Duplex {
  readonly #stream: GrpcStream;
  readonly #dialId: bigint;
  #connectId: bigint | undefined;

  constructor(connection: GrpcConnection, target: DialTarget, dialId: bigint) {
    super({ allowHalfOpen: false });
    this.#dialId = dialId;
    this.#stream = connection.stream(PROXY_METHOD, {
      handler: {
        message: (bytes) => this.#receive(Packet.decode(bytes)),
        end: (error) => void this.destroy(error ?? (this.#connectId === undefined ? new Error('the proxy ended the dial') : undefined)),
      },
    });
    const dialRequest = { protocol: 'tcp', address: targetText(target), random: dialId };
    this.#stream.send(Packet.encode({ type: PACKET.dialRequest, dialRequest }));
  }

  #receive({ type, dialResponse, data, closeResponse }: MessageOf<typeof Packet>): void {
    if (type === PACKET.dialResponse && dialResponse?.random === this.#dialId) {
      if (dialResponse.error !== '') return void this.destroy(new Error(dialResponse.error));
      this.#connectId = dialResponse.connectId;
      this.emit('connect');
    } else if (type === PACKET.dialClose) this.destroy(new Error('the proxy ended the dial'));
    else if (this.#connectId === undefined || this.readableEnded || this.destroyed) return;
    else if (type === PACKET.data && data?.connectId === this.#connectId) {
      if (!this.push(Buffer.from(data.data))) this.#stream.pause();
    } else if (type === PACKET.closeResponse && closeResponse?.connectId === this.#connectId) this.push(null);
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      const data = { connectId: this.#connectId!, data: chunk.subarray(at, at + MAX_DATA_BYTES) };
      this.#stream.send(Packet.encode({ type: PACKET.data, data }));
    }
    void this.#stream.drained().then(() => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#close();
    this.#stream.finish();
    done(error);
  }

  #close(): void {
    if (this.#connectId === undefined) this.#stream.send(Packet.encode({ type: PACKET.dialClose, dialClose: { random: this.#dialId } }));
    else this.#stream.send(Packet.encode({ type: PACKET.closeRequest, closeRequest: { connectId: this.#connectId } }));
  }
}
