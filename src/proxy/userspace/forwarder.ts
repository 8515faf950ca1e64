import dgram from 'node:dgram';
import net from 'node:net';
import { type Clock, type IpNetwork, type Logger, Lru, listenOn, networkContains, parseCidr, parseIp, type Random } from '#base';
import type { ProxyEndpoint } from '../rules/service-rules.ts';

/** Endpoints of a frontend, and its clients. */
export interface ForwardingRule {
  readonly endpoints: readonly ProxyEndpoint[];
  readonly affinitySeconds?: number | undefined;
  /** Allowed clients. Absent: all. */
  readonly sourceRanges?: readonly string[] | undefined;
}

/** Listens for one frontend and forwards traffic. */
export interface Forwarder extends AsyncDisposable {
  listen(host: string, port: number): Promise<void>;
  /** Open connections stay with their endpoint. */
  update(rule: ForwardingRule): void;
}

export interface ForwarderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const MAX_CONNECTIONS = 4096;
const MAX_FLOWS = 4096;
const MAX_CLIENTS = 65_536;
const CONNECT_TIMEOUT_MS = 5_000;
const FLOW_IDLE_MS = 60_000;

/** Picks an endpoint for each client. */
class EndpointPicker {
  #endpoints: readonly ProxyEndpoint[] = [];
  #affinityMs: number | undefined;
  #sourceRanges: readonly IpNetwork[] | undefined;
  readonly #clients = new Lru<string, { readonly target: string; readonly until: number }>({ capacity: MAX_CLIENTS });

  constructor(private readonly random: Random) {}

  update({ endpoints, affinitySeconds, sourceRanges }: ForwardingRule): void {
    this.#endpoints = endpoints;
    this.#affinityMs = affinitySeconds === undefined ? undefined : affinitySeconds * 1000;
    this.#sourceRanges = sourceRanges?.map(parseCidr).filter((range) => range !== undefined);
  }

  has({ address, port }: ProxyEndpoint): boolean {
    return this.#endpoints.some((endpoint) => endpoint.address === address && endpoint.port === port);
  }

  /** All endpoints, in the order of attempts; none for clients outside of the source ranges. */
  order(client: string, now: number): readonly ProxyEndpoint[] {
    if (!this.#mayConnect(client)) return [];
    const shuffled = this.random.shuffle(this.#endpoints);
    if (this.#affinityMs === undefined || shuffled.length === 0) return shuffled;
    const before = this.#clients.get(client);
    const idOf = ({ address, port }: ProxyEndpoint) => `${address} ${port}`;
    const sticky = before && before.until > now ? shuffled.find((endpoint) => idOf(endpoint) === before.target) : undefined;
    const first = sticky ?? shuffled[0]!;
    this.#clients.set(client, { target: idOf(first), until: now + this.#affinityMs });
    return [first, ...shuffled.filter((endpoint) => endpoint !== first)];
  }

  #mayConnect(client: string): boolean {
    const address = this.#sourceRanges && parseIp(client);
    if (this.#sourceRanges === undefined) return true;
    return address !== undefined && this.#sourceRanges.some((range) => networkContains(range, address));
  }
}

export class TcpForwarder implements Forwarder {
  readonly #deps: ForwarderDeps;
  readonly #picker: EndpointPicker;
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();

  constructor(
    private readonly family: 4 | 6,
    deps: ForwarderDeps,
  ) {
    this.#deps = deps;
    this.#picker = new EndpointPicker(deps.random);
    this.#server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.#accept(client));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  listen(host: string, port: number): Promise<void> {
    // Both families may have the port, each with its own server.
    return listenOn(this.#server, { host, port, ipv6Only: this.family === 6 }, this.#deps.logger);
  }

  update(rule: ForwardingRule): void {
    this.#picker.update(rule);
  }

  #accept(client: net.Socket): void {
    this.#keep(client);
    this.#forward(client).catch((error: unknown) => {
      this.#deps.logger.warn('a connection could not be forwarded', { error });
      client.destroy();
    });
  }

  async #forward(client: net.Socket): Promise<void> {
    for (const endpoint of this.#picker.order(client.remoteAddress ?? '', this.#deps.clock.monotonic())) {
      const target = await connectTo(endpoint);
      if (target === undefined) continue;
      this.#keep(target);
      // The client left while the connection was established.
      if (client.destroyed) return void target.destroy();
      client.pipe(target);
      target.pipe(client);
      client.once('close', () => target.destroy());
      target.once('close', () => client.destroy());
      return;
    }
    client.resetAndDestroy();
  }

  #keep(socket: net.Socket): void {
    this.#open.add(socket);
    // The other side is closed by the 'close' event.
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}

/** Undefined when the connection fails. */
function connectTo({ address, port }: ProxyEndpoint): Promise<net.Socket | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: address, port, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
    const fail = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.on('error', fail);
    socket.once('timeout', fail);
    socket.once('connect', () => {
      socket.off('timeout', fail);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

interface Flow {
  readonly socket: dgram.Socket;
  readonly endpoint: ProxyEndpoint;
  usedAt: number;
}

export class UdpForwarder implements Forwarder {
  readonly #deps: ForwarderDeps;
  readonly #picker: EndpointPicker;
  readonly #server: dgram.Socket;
  readonly #flows = new Map<string, Flow>();
  #isListening = false;

  constructor(
    private readonly family: 4 | 6,
    deps: ForwarderDeps,
  ) {
    this.#deps = deps;
    this.#picker = new EndpointPicker(deps.random);
    this.#server = dgram.createSocket({ type: family === 4 ? 'udp4' : 'udp6', ipv6Only: family === 6 });
    this.#server.on('message', (message, from) => this.#forward(message, from));
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.bind(port, host, () => {
        this.#isListening = true;
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#deps.logger.warn('a datagram could not be forwarded', { error }));
        resolve();
      });
    });
  }

  update(rule: ForwardingRule): void {
    this.#picker.update(rule);
    for (const [client, flow] of this.#flows) if (!this.#picker.has(flow.endpoint)) this.#end(client, flow);
  }

  #forward(message: Buffer, from: dgram.RemoteInfo): void {
    // Nothing can be sent back to port 0, which only a forged datagram comes from.
    if (from.port === 0) return;
    const client = `${from.address} ${from.port}`;
    const flow = this.#flows.get(client) ?? this.#begin(client, from);
    if (flow === undefined) return;
    flow.usedAt = this.#deps.clock.monotonic();
    flow.socket.send(message, flow.endpoint.port, flow.endpoint.address);
  }

  #begin(client: string, from: dgram.RemoteInfo): Flow | undefined {
    const [endpoint] = this.#picker.order(from.address, this.#deps.clock.monotonic());
    if (endpoint === undefined) return undefined;
    this.#expire();
    const socket = dgram.createSocket(this.family === 4 ? 'udp4' : 'udp6');
    const flow = { socket, endpoint, usedAt: this.#deps.clock.monotonic() };
    socket.on('message', (message) => this.#server.send(message, from.port, from.address));
    // A refused endpoint is treated like an unresponsive one.
    socket.on('error', () => this.#end(client, flow));
    this.#flows.set(client, flow);
    return flow;
  }

  #expire(): void {
    const now = this.#deps.clock.monotonic();
    for (const [client, flow] of this.#flows) if (now - flow.usedAt > FLOW_IDLE_MS) this.#end(client, flow);
    const [oldest] = this.#flows;
    if (this.#flows.size >= MAX_FLOWS && oldest) this.#end(oldest[0], oldest[1]);
  }

  #end(client: string, { socket }: Flow): void {
    if (!this.#flows.delete(client)) return;
    socket.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [client, flow] of this.#flows) this.#end(client, flow);
    if (this.#isListening) await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    else this.#server.close();
  }
}
