import { mkdir, rm } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { type Logger, listenOn } from '#base';
import { CNI_CODES, CniError } from './cni-error.ts';
import { CNI_VERSIONS, type CniRequest, readCniRequest } from './cni-request.ts';

/** Far above any real request: a conflist, its runtime configuration and the attachments of a full node. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_CONNECTIONS = 512;
const IDLE_TIMEOUT_MS = 30_000;

export type CniHandler = (request: CniRequest) => Promise<object | undefined>;

/** Serves the CNI plugin on a unix socket: it sends its environment and stdin, and receives an exit code and its output. */
export class CniServer implements AsyncDisposable {
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();

  constructor(
    private readonly handle: CniHandler,
    private readonly logger: Logger,
  ) {
    // The plugin half-closes its side before the response.
    this.#server = net.createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  async listen(socketPath: string): Promise<void> {
    await mkdir(path.dirname(socketPath), { recursive: true, mode: 0o700 });
    // Stale socket of a killed agent.
    await rm(socketPath, { force: true });
    await listenOn(this.#server, { path: socketPath }, this.logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #serve(socket: net.Socket): void {
    this.#open.add(socket);
    const chunks: Buffer[] = [];
    let length = 0;
    socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy());
    socket.on('close', () => this.#open.delete(socket));
    // The plugin was killed.
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_REQUEST_BYTES) socket.destroy();
    });
    socket.on('end', () => {
      socket.setTimeout(0);
      if (!socket.destroyed) this.#reply(socket, Buffer.concat(chunks).toString());
    });
  }

  #reply(socket: net.Socket, request: string): void {
    this.#answer(request).then(
      (answer) => socket.end(answer),
      (error: unknown) => {
        this.logger.error('a CNI request was not answered', { error });
        socket.destroy();
      },
    );
  }

  /** The exit code as a digit, the output, and a newline as the end marker. */
  async #answer(text: string): Promise<string> {
    let request: CniRequest | undefined;
    try {
      request = readCniRequest(text);
      const result = request.command === 'VERSION' ? { supportedVersions: CNI_VERSIONS } : await this.handle(request);
      const { cniVersion } = request;
      return `0${result === undefined ? '' : JSON.stringify({ cniVersion, ...result })}\n`;
    } catch (error) {
      return `1${JSON.stringify(this.#errorResult(error, request))}\n`;
    }
  }

  #errorResult(error: unknown, request: CniRequest | undefined): object {
    const { command, containerId, cniVersion = '1.0.0' } = request ?? {};
    this.logger.error('a CNI request failed', { command, containerId, error });
    const { code, message, details } =
      error instanceof CniError ? error : new CniError(CNI_CODES.ioFailure, (error as Error).message ?? String(error));
    return { cniVersion, code, msg: message, ...(details !== '' && { details }) };
  }
}
