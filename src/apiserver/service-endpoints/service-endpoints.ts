import type { Duplex } from 'node:stream';
import type { core, discovery } from '#api';
import type { Random } from '#base';
import { goQuote, StatusError } from '#machinery';
import type { KubeletConnector } from '../kubelet-client/kubelet-connector.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';

/** A Service port. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** An address to connect to. */
export interface ServiceEndpoint {
  readonly host: string;
  readonly port: number;
  /** For addresses that are not on a network. */
  readonly connect?: () => Promise<Duplex>;
}

export interface ServiceEndpointsDeps {
  readonly table: ResourceTable;
  readonly random: Random;
  readonly kubelets: KubeletConnector;
  /**
   * `endpoint`, as with `--enable-aggregator-routing`: an endpoint of the Service. `cluster-ip`: its cluster IP, which the machine must
   * route. `endpoint-or-cluster-ip`: the cluster IP where no endpoint is ready, so that connecting says why.
   */
  readonly routing: 'endpoint' | 'cluster-ip' | 'endpoint-or-cluster-ip';
}

const SERVICE_LABEL = 'kubernetes.io/service-name';

/** Resolves a Service to an address. */
export class ServiceEndpoints {
  readonly #deps: ServiceEndpointsDeps;

  constructor(deps: ServiceEndpointsDeps) {
    this.#deps = deps;
  }

  /** Throws with upstream's message. */
  async resolve(target: ServicePort): Promise<ServiceEndpoint> {
    const { namespace, name, port } = target;
    const service = await this.service(namespace, name);
    // Upstream's lister names the resource in the singular.
    if (service === undefined) throw StatusError.notFound({ group: '', resource: 'service' }, name);
    const { type = 'ClusterIP', externalName = '', clusterIP = '', ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return this.#address(externalName, port);
    const servicePort = ports.find((candidate) => candidate.port === port);
    if (servicePort === undefined) throw StatusError.serviceUnavailable(`no service port ${port} found for service ${goQuote(name)}`);
    const { routing } = this.#deps;
    const endpoint = routing === 'cluster-ip' ? undefined : await this.#endpoint(service, servicePort.name ?? '');
    if (endpoint !== undefined) return endpoint;
    const hasClusterIp = clusterIP !== '' && clusterIP !== 'None';
    if (routing === 'endpoint' || (routing === 'endpoint-or-cluster-ip' && !hasClusterIp))
      throw StatusError.serviceUnavailable(`no endpoints available for service ${goQuote(name)}`);
    if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
    return this.#address(clusterIP, port);
  }

  #address(host: string, port: number): ServiceEndpoint {
    const dial = this.#deps.kubelets.dialCluster;
    return { host, port, ...(dial && { connect: () => dial({ host, port }) }) };
  }

  async service(namespace: string, name: string): Promise<core.Service | undefined> {
    return (await this.#deps.table.storage('', 'v1', 'services').get(namespace, name))?.object as unknown as core.Service | undefined;
  }

  async slices(namespace: string, service: string): Promise<readonly discovery.EndpointSlice[]> {
    const storage = this.#deps.table.storage('discovery.k8s.io', 'v1', 'endpointslices');
    await storage.cache.fresh();
    return [...storage.cache.objects(storage.prefixOf(namespace))]
      .map(({ object }) => object as unknown as discovery.EndpointSlice)
      .filter(({ metadata }) => metadata.labels?.[SERVICE_LABEL] === service);
  }

  async #endpoint({ metadata, spec }: core.Service, portName: string): Promise<ServiceEndpoint | undefined> {
    const { namespace = '', name = '' } = metadata;
    const ready = (await this.slices(namespace, name)).flatMap((slice) => readyEndpoints(slice, portName));
    const preferred = ready.filter(({ family }) => family === spec?.ipFamilies?.[0]);
    const candidates = preferred.length > 0 ? preferred : ready;
    const chosen = candidates[this.#deps.random.int(Math.max(candidates.length, 1))];
    if (chosen === undefined) return undefined;
    const connect = await this.#dialer(namespace, chosen);
    return connect === undefined ? this.#address(chosen.host, chosen.port) : { host: chosen.host, port: chosen.port, connect };
  }

  /** Simulated pods have no real address and are reached through their kubelet. */
  async #dialer(namespace: string, { podName, port }: ReadyEndpoint): Promise<(() => Promise<Duplex>) | undefined> {
    if (podName === undefined) return undefined;
    const pod = await this.#deps.table.storage('', 'v1', 'pods').get(namespace, podName);
    return pod === undefined ? undefined : this.#deps.kubelets.dialPod?.(pod.object as unknown as core.Pod, port);
  }
}

interface ReadyEndpoint {
  readonly host: string;
  readonly port: number;
  readonly family: string | undefined;
  readonly podName: string | undefined;
}

function readyEndpoints({ addressType, ports, endpoints }: discovery.EndpointSlice, portName: string): readonly ReadyEndpoint[] {
  const port = ports?.find((candidate) => (candidate.name ?? '') === portName)?.port;
  if (port === undefined) return [];
  return (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
    const host = addresses?.[0];
    if (conditions?.ready === false || host === undefined) return [];
    return [{ host, port, family: addressType, podName: targetRef?.kind === 'Pod' ? targetRef.name : undefined }];
  });
}
