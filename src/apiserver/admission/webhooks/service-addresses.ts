import type { core, discovery } from '#api';
import type { Random } from '#base';
import { goQuote } from '#machinery';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';

export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
}

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Resolves services for the server itself, which has no cluster network: a ready endpoint, or else the cluster IP. */
export class ServiceAddresses {
  readonly #table: ResourceTable;
  readonly #random: Random;

  constructor({ table, random }: { table: ResourceTable; random: Random }) {
    this.#table = table;
    this.#random = random;
  }

  /** Throws an Error with upstream's message. */
  async resolve({ namespace, name, port }: ServicePort): Promise<NetworkAddress> {
    const cached = await this.#table.storage('', 'v1', 'services').get(namespace, name);
    if (cached === undefined) throw new Error(`service ${goQuote(name)} not found`);
    const service = cached.object as unknown as core.Service;
    const { type = 'ClusterIP', externalName = '', clusterIP = '', ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName, port };
    const servicePort = ports.find((candidate) => candidate.port === port);
    if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${goQuote(name)}`);
    const endpoint = await this.#endpoint(service, servicePort.name ?? '');
    if (endpoint !== undefined) return endpoint;
    if (clusterIP === '' || clusterIP === 'None') throw new Error(`no endpoints available for service ${goQuote(name)}`);
    return { host: clusterIP, port };
  }

  async #endpoint({ metadata, spec }: core.Service, portName: string): Promise<NetworkAddress | undefined> {
    const storage = this.#table.storage('discovery.k8s.io', 'v1', 'endpointslices');
    await storage.cache.fresh();
    const all = [...storage.cache.objects(storage.prefixOf(metadata.namespace ?? ''))];
    const slices = all
      .map(({ object }) => object as unknown as discovery.EndpointSlice)
      .filter((slice) => slice.metadata.labels?.[SERVICE_LABEL] === metadata.name);
    const preferred = spec?.ipFamilies?.[0];
    const ready = slices.flatMap((slice) => readyAddresses(slice, portName));
    const best = ready.some(({ family }) => family === preferred) ? ready.filter(({ family }) => family === preferred) : ready;
    return best.length === 0 ? undefined : best[this.#random.int(best.length)];
  }
}

function readyAddresses({ addressType, ports, endpoints }: discovery.EndpointSlice, portName: string) {
  const port = ports?.find((candidate) => (candidate.name ?? '') === portName)?.port;
  if (port === undefined) return [];
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return ready.flatMap(({ addresses }) => (addresses?.[0] === undefined ? [] : [{ host: addresses[0], port, family: addressType }]));
}
