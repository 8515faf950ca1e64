import { connect, createServer, type Server, type Socket } from 'node:net';

/** The sender: etcd members name themselves in every request to a peer. */
const FROM = /^x-server-from: ([0-9a-f]+)\r$/im;
/** The receiver. */
const TO = /^x-raft-to: ([0-9a-f]+)\r$/im;

interface Link {
  readonly sockets: readonly Socket[];
  from: string | undefined;
}

/** Stands before the peer port of one member, so that the network between members can be cut. */
export class PeerProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #links = new Set<Link>();
  readonly #blocked = new Set<string>();
  #memberId = 'unknown';

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
  }

  static start(target: number): Promise<PeerProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer({ allowHalfOpen: false });
      const proxy = new PeerProxy(server, target);
      server.on('connection', (socket) => proxy.#accept(socket));
      server.on('error', reject).listen(0, '127.0.0.1', () => resolve(proxy));
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** The member behind this proxy, known when another has spoken to it. */
  get memberId(): string {
    return this.#memberId;
  }

  /** Drops what comes from this member, or from all. */
  block(from: string): void {
    this.#blocked.add(from);
    for (const link of this.#links) if (this.#isBlocked(link)) for (const socket of link.sockets) socket.destroy();
  }

  unblock(from: string): void {
    this.#blocked.delete(from);
  }

  close(): Promise<void> {
    for (const { sockets } of this.#links) for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #isBlocked({ from }: Link): boolean {
    return this.#blocked.has('all') || (from !== undefined && this.#blocked.has(from));
  }

  #accept(socket: Socket): void {
    const target = connect(this.#target, '127.0.0.1');
    const link: Link = { sockets: [socket, target], from: undefined };
    this.#links.add(link);
    for (const [source, to] of [
      [socket, target],
      [target, socket],
    ] as const) {
      source.on('error', () => {});
      source.on('close', () => {
        to.destroy();
        this.#links.delete(link);
      });
    }
    target.on('data', (chunk) => void (this.#isBlocked(link) || socket.write(chunk)));
    socket.on('data', (chunk) => this.#forward(link, chunk, target));
  }

  #forward(link: Link, chunk: Buffer, target: Socket): void {
    if (link.from === undefined) this.#learn(link, chunk.toString('latin1'));
    if (this.#isBlocked(link)) for (const socket of link.sockets) socket.destroy();
    else target.write(chunk);
  }

  #learn(link: Link, head: string): void {
    link.from = FROM.exec(head)?.[1];
    this.#memberId = TO.exec(head)?.[1] ?? this.#memberId;
  }
}
