import type { core, discovery } from '#api';

export interface IndexedPort {
  readonly name: string;
  /** Lower case, as in SRV names. */
  readonly protocol: string;
  readonly port: number;
}

/** A ready endpoint of a headless service. */
export interface IndexedEndpoint {
  readonly address: string;
  /** Its DNS label: the pod's hostname, or the address with dashes. */
  readonly label: string;
  readonly ports: readonly IndexedPort[];
}

export interface IndexedService {
  readonly namespace: string;
  readonly name: string;
  readonly clusterIps: readonly string[];
  readonly externalName: string | undefined;
  readonly ports: readonly IndexedPort[];
  /** Only for headless services. */
  readonly endpoints: readonly IndexedEndpoint[];
}

/** The owner of an address, for PTR records: a service, or an endpoint of a headless one. */
export interface AddressOwner {
  readonly service: string;
  readonly namespace: string;
  readonly endpoint: string | undefined;
}

const SERVICE_NAME = 'kubernetes.io/service-name';

/** The DNS data: services, endpoints of headless services and namespaces, updated incrementally. */
export class ServiceIndex {
  readonly #services = new Map<string, core.Service>();
  readonly #slices = new Map<string, Map<string, discovery.EndpointSlice>>();
  readonly #indexed = new Map<string, IndexedService>();
  readonly #owners = new Map<string, Map<string, AddressOwner>>();
  readonly #namespaces = new Set<string>();
  #generation = 0;

  /** Incremented with every change, to invalidate cached answers. */
  get generation(): number {
    return this.#generation;
  }

  hasNamespace(name: string): boolean {
    return this.#namespaces.has(name);
  }

  service(namespace: string, name: string): IndexedService | undefined {
    return this.#indexed.get(`${namespace}/${name}`);
  }

  owners(address: string): Iterable<AddressOwner> {
    return this.#owners.get(address)?.values() ?? [];
  }

  putNamespace({ metadata: { name = '' } }: core.Namespace): void {
    this.#namespaces.add(name);
    this.#generation++;
  }

  removeNamespace({ metadata: { name = '' } }: core.Namespace): void {
    this.#namespaces.delete(name);
    this.#generation++;
  }

  putService(service: core.Service): void {
    const key = keyOf(service.metadata);
    this.#services.set(key, service);
    this.#reindex(key);
  }

  removeService({ metadata }: core.Service): void {
    const key = keyOf(metadata);
    this.#services.delete(key);
    this.#reindex(key);
  }

  putSlice(slice: discovery.EndpointSlice): void {
    const key = serviceOf(slice);
    if (key === undefined) return;
    const slices = this.#slices.get(key) ?? new Map<string, discovery.EndpointSlice>();
    slices.set(slice.metadata.name ?? '', slice);
    this.#slices.set(key, slices);
    if (this.#isHeadless(key)) this.#reindex(key);
  }

  removeSlice(slice: discovery.EndpointSlice): void {
    const key = serviceOf(slice);
    const slices = key === undefined ? undefined : this.#slices.get(key);
    if (key === undefined || slices === undefined) return;
    slices.delete(slice.metadata.name ?? '');
    if (slices.size === 0) this.#slices.delete(key);
    if (this.#isHeadless(key)) this.#reindex(key);
  }

  #isHeadless(key: string): boolean {
    return this.#services.get(key)?.spec?.clusterIP === 'None';
  }

  #reindex(key: string): void {
    this.#generation++;
    const before = this.#indexed.get(key);
    if (before !== undefined) for (const address of addressesOf(before)) this.#disown(address, key);
    const service = this.#services.get(key);
    const indexed = service && indexedService(service, [...(this.#slices.get(key)?.values() ?? [])]);
    if (indexed === undefined) this.#indexed.delete(key);
    else {
      this.#indexed.set(key, indexed);
      this.#addOwners(key, indexed);
    }
  }

  #addOwners(key: string, { name, namespace, clusterIps, endpoints }: IndexedService): void {
    const add = (address: string, endpoint: string | undefined) => {
      const owners = this.#owners.get(address) ?? new Map<string, AddressOwner>();
      owners.set(`${key}/${endpoint ?? ''}`, { service: name, namespace, endpoint });
      this.#owners.set(address, owners);
    };
    for (const address of clusterIps) add(address, undefined);
    for (const { address, label } of endpoints) add(address, label);
  }

  #disown(address: string, key: string): void {
    const owners = this.#owners.get(address);
    for (const owner of owners?.keys() ?? []) if (owner.startsWith(`${key}/`)) owners?.delete(owner);
    if (owners?.size === 0) this.#owners.delete(address);
  }
}

function keyOf({ namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace}/${name}`;
}

function serviceOf({ metadata }: discovery.EndpointSlice): string | undefined {
  const name = metadata.labels?.[SERVICE_NAME];
  return name ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

function addressesOf({ clusterIps, endpoints }: IndexedService): readonly string[] {
  return [...clusterIps, ...endpoints.map(({ address }) => address)];
}

function indexedService({ metadata, spec }: core.Service, slices: readonly discovery.EndpointSlice[]): IndexedService {
  const { clusterIP = '', clusterIPs = [], type, externalName } = spec ?? {};
  const isExternal = type === 'ExternalName';
  const isHeadless = clusterIP === 'None';
  const addresses = clusterIPs.length > 0 ? clusterIPs : [clusterIP];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    clusterIps: isHeadless || isExternal ? [] : addresses.filter((address) => address !== ''),
    externalName: isExternal && externalName ? externalName.replace(/\.$/, '') : undefined,
    ports: (spec?.ports ?? []).map(({ name = '', protocol = 'TCP', port }) => ({ name, protocol: protocol.toLowerCase(), port })),
    endpoints: isHeadless ? slices.flatMap(endpointsOf) : [],
  };
}

function endpointsOf({ endpoints = [], ports = [], addressType }: discovery.EndpointSlice): readonly IndexedEndpoint[] {
  if (addressType === 'FQDN') return [];
  const offered = (ports ?? []).flatMap(({ name = '', protocol = 'TCP', port }) =>
    port === undefined ? [] : [{ name, protocol: protocol.toLowerCase(), port }],
  );
  return (endpoints ?? []).flatMap(({ addresses = [], hostname, conditions }) => {
    // With publishNotReadyAddresses the endpoint slice controller marks endpoints as ready.
    if (conditions?.ready === false) return [];
    return addresses.map((address) => ({ address, label: (hostname || dashedAddress(address)).toLowerCase(), ports: offered }));
  });
}

/** The label of an endpoint without a hostname: `10-244-0-5`. */
export function dashedAddress(address: string): string {
  return address.replaceAll('.', '-').replaceAll(':', '-');
}
