import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { core } from '#api';
import { StatusError } from '#machinery';
import type { KubeletConnector, KubeletRequest, KubeletResponse } from './kubelet-connector.ts';

export interface HttpsKubeletOptions {
  /** How the server shows who it is. PEM. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** Who signs kubelets' certificates. Absent: they are not checked, as upstream without --kubelet-certificate-authority. */
  readonly authority?: string;
  /** Which of a node's addresses to try, in this order. */
  readonly preferredAddressTypes?: readonly string[];
}

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const DEFAULT_PORT = 10250;

/** Reaches kubelets over the network, at the address and port that their nodes tell. */
export class HttpsKubeletConnector implements KubeletConnector, Disposable {
  #options: HttpsKubeletOptions;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(options: HttpsKubeletOptions = {}) {
    this.#options = options;
  }

  /** Shows another certificate to connections from now on. */
  useCertificate({ clientCertificate, clientKey }: Required<Pick<HttpsKubeletOptions, 'clientCertificate' | 'clientKey'>>): void {
    this.#options = { ...this.#options, clientCertificate, clientKey };
  }

  request(request: KubeletRequest): Promise<KubeletResponse> {
    const { node, method, path, query, headers, body, signal, skipVerification } = request;
    const { clientCertificate: cert, clientKey: key, authority: ca } = this.#options;
    const search = query.size > 0 ? `?${query}` : '';
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(
        {
          host: kubeletAddress(node, this.#options.preferredAddressTypes ?? ADDRESS_TYPES),
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
        },
        (response) => resolve(kubeletResponse(response)),
      );
      sent.on('error', (error) =>
        reject(new Error(`cannot reach the kubelet of node ${node.metadata.name}: ${error.message}`, { cause: error })),
      );
      sent.end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

function kubeletResponse(response: IncomingMessage): KubeletResponse {
  const headers = Object.entries(response.headers).filter(([, value]) => value !== undefined) as [string, string | readonly string[]][];
  return { code: response.statusCode ?? 500, headers: Object.fromEntries(headers), body: response };
}

export function kubeletAddress({ status }: core.Node, types: readonly string[]): string {
  const addresses = status?.addresses ?? [];
  for (const type of types) {
    const found = addresses?.find((address) => address.type === type);
    if (found?.address) return found.address;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw StatusError.internalError(new Error(`no preferred addresses found; known addresses: [${known}]`));
}

function kubeletPort({ status }: core.Node): number {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port || DEFAULT_PORT;
}
