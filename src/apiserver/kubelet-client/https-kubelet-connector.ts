import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { core } from '#api';
import { DeadPeerMonitor, type Dialer, DialingAgent } from '#base';
import { joinDuplexes, type Upgrade } from '#client';
import { StatusError } from '#machinery';
import type { KubeletConnector, KubeletRequest, KubeletResponse } from './kubelet-connector.ts';

export interface HttpsKubeletOptions {
  /** The server's client certificate for kubelets. PEM. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** The CA of kubelet certificates. Undefined: not verified, as upstream without --kubelet-certificate-authority. */
  readonly authority?: string;
  /** Node address types in order of preference. */
  readonly preferredAddressTypes?: readonly string[];
  /** Connects to nodes and pods. Default: directly. */
  readonly dial?: Dialer | undefined;
}

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const DEFAULT_PORT = 10250;
const KEEP_ALIVE_MS = 15_000;

/** Connects to kubelets at the address and port in the Node's status. */
export class HttpsKubeletConnector implements KubeletConnector, Disposable {
  #options: HttpsKubeletOptions;
  readonly #agent: Agent;
  readonly dialCluster: Dialer | undefined;
  readonly #peers = new DeadPeerMonitor();

  constructor(options: HttpsKubeletOptions = {}) {
    this.#options = options;
    this.dialCluster = options.dial;
    this.#agent = options.dial === undefined ? new Agent({ keepAlive: true }) : new DialingAgent(options.dial);
  }

  /** Replaces the client certificate for new connections. */
  useCertificate({ clientCertificate, clientKey }: Required<Pick<HttpsKubeletOptions, 'clientCertificate' | 'clientKey'>>): void {
    this.#options = { ...this.#options, clientCertificate, clientKey };
  }

  async request(request: KubeletRequest): Promise<KubeletResponse> {
    const response = await this.#send(request);
    if ('serve' in response) throw new Error('unexpected upgrade response of the kubelet');
    return response;
  }

  upgrade(request: KubeletRequest): Promise<KubeletResponse | Upgrade> {
    return this.#send(request);
  }

  addressOf(node: core.Node): string {
    return kubeletAddress(node, this.#options.preferredAddressTypes);
  }

  isLocal(): boolean {
    return false;
  }

  #send({ node, method, path, query, headers, body, signal, skipVerification }: KubeletRequest): Promise<KubeletResponse | Upgrade> {
    const { clientCertificate: cert, clientKey: key, authority: ca } = this.#options;
    const search = query.size > 0 ? `?${query}` : '';
    return new Promise((resolve, reject) => {
      const sent = httpsRequest({
        host: this.addressOf(node),
        port: kubeletPort(node),
        method,
        path: path + search,
        headers,
        agent: this.#agent,
        rejectUnauthorized: ca !== undefined && !skipVerification,
        ...(cert && { cert }),
        ...(key && { key }),
        ...(ca && { ca }),
        ...(signal && { signal }),
      });
      sent.once('socket', (socket) => this.#watch(socket));
      sent.once('response', (response) => resolve(kubeletResponse(response)));
      sent.once('upgrade', (response, socket: Socket, head) => resolve(kubeletUpgrade(response, socket, head)));
      sent.on('error', (error) =>
        reject(new Error(`cannot reach the kubelet of node ${node.metadata.name}: ${error.message}`, { cause: error })),
      );
      // A truncated body ends the request, whose 'error' event has the cause.
      if (body instanceof Readable) pipeline(body, sent, () => {});
      else sent.end(body);
    });
  }

  /** Detects nodes that lost power, whether the server waits for them or writes to them. */
  #watch(socket: Socket): void {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (socket.connecting) socket.once('connect', () => this.#peers.add(socket));
    else this.#peers.add(socket);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#peers[Symbol.dispose]();
  }
}

function kubeletResponse(response: IncomingMessage): KubeletResponse {
  const headers = Object.entries(response.headers).filter(([, value]) => value !== undefined) as [string, string | readonly string[]][];
  return { code: response.statusCode ?? 500, headers: Object.fromEntries(headers), body: response };
}

function kubeletUpgrade({ headers }: IncomingMessage, socket: Socket, head: Buffer): Upgrade {
  // Node removes its own listener; the code that serves the connection sees the close.
  socket.on('error', () => socket.destroy());
  socket.setNoDelay(true);
  if (head.length > 0) socket.unshift(head);
  const single = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { headers: Object.fromEntries(single), serve: (connection) => joinDuplexes(connection, socket) };
}

export function kubeletAddress({ status }: core.Node, types: readonly string[] = ADDRESS_TYPES): string {
  const addresses = status?.addresses ?? [];
  for (const type of types) {
    const preferred = addresses?.find((address) => address.type === type);
    if (preferred?.address) return preferred.address;
  }
  const available = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw StatusError.internalError(new Error(`no preferred addresses found; known addresses: [${available}]`));
}

export function kubeletPort({ status }: core.Node): number {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port || DEFAULT_PORT;
}
