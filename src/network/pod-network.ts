import { access } from 'node:fs/promises';
import { type KernelNetwork, KeyedMutex, type Logger } from '#base';
import type { AddressPool } from './address-pool.ts';
import { type Attachment, type AttachmentStore, attachmentId } from './attachment-store.ts';
import { CNI_CODES, CniError } from './cni/cni-error.ts';
import type { AttachmentKey, CniRequest } from './cni/cni-request.ts';
import {
  createPodInterface,
  deletePodInterface,
  hostInterfaceName,
  hostRoute,
  isIpv6,
  type PodInterface,
  podInterfaceProblem,
  podMac,
} from './pod-interface.ts';

/** Observes the node's pods, for host ports and policies. */
export interface AttachmentObserver {
  /** Called before the pod's containers are started. */
  attached(attachment: Attachment): Promise<void>;
  detached(attachment: Attachment): Promise<void>;
}

export interface PodNetworkDeps {
  readonly kernel: KernelNetwork;
  readonly store: AttachmentStore;
  readonly observers: readonly AttachmentObserver[];
  /** The MTU of new interfaces. */
  readonly mtu: () => number;
  readonly logger: Logger;
}

/** The interfaces of the node's pods: implements the CNI commands. */
export class PodNetwork {
  readonly #attachments = new Map<string, Attachment>();
  readonly #locks = new KeyedMutex();
  #pool: AddressPool | undefined;

  constructor(private readonly deps: PodNetworkDeps) {}

  get attachments(): Iterable<Attachment> {
    return this.#attachments.values();
  }

  /** Adopts the attachments of an earlier agent: pods keep their addresses. */
  async load(pool: AddressPool): Promise<void> {
    for (const attachment of await this.deps.store.load()) {
      this.#attachments.set(attachmentId(attachment), attachment);
      pool.occupy(attachment.addresses);
    }
  }

  /** Replaces the address pool. */
  use(pool: AddressPool): void {
    this.#pool = pool;
  }

  handle(request: CniRequest): Promise<object | undefined> {
    if (request.pluginType === 'loopback') return this.#loopback(request);
    switch (request.command) {
      case 'ADD':
        return this.#exclusively(request, () => this.#add(request));
      case 'DEL':
        return this.#exclusively(request, () => this.#delete(request));
      case 'CHECK':
        return this.#exclusively(request, () => this.#check(request));
      case 'GC':
        return this.#removeAllBut(request.validAttachments);
      case 'STATUS':
        return this.#status();
      case 'VERSION':
        return Promise.resolve(undefined);
    }
  }

  /** Releases attachments whose network namespace is gone, for example after a reboot. */
  async collectGarbage(): Promise<void> {
    for (const attachment of [...this.#attachments.values()]) {
      if (await exists(attachment.netns)) continue;
      this.deps.logger.info('the network namespace of a pod does not exist; its addresses are released', { pod: attachment.podName });
      await this.#exclusively(attachment, () => this.#delete(attachment));
    }
  }

  #exclusively<T>(key: AttachmentKey, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(attachmentId(key), work);
  }

  async #status(): Promise<undefined> {
    this.#readyPool();
  }

  #readyPool(): AddressPool {
    if (this.#pool === undefined) throw new CniError(CNI_CODES.notAvailable, 'the node has no podCIDR yet');
    return this.#pool;
  }

  async #add(request: CniRequest): Promise<object> {
    const pool = this.#readyPool();
    const id = attachmentId(request);
    const before = this.#attachments.get(id);
    const addresses = before?.addresses ?? pool.allocate();
    if (addresses === undefined) throw new CniError(CNI_CODES.noAddresses, 'no address is free on this node');
    const attachment = attachmentOf(request, addresses);
    this.#attachments.set(id, attachment);
    try {
      await this.deps.store.write(attachment);
      const pod = this.#interfaceOf(attachment, request);
      await this.#create(pod, before !== undefined);
      for (const observer of this.deps.observers) await observer.attached(attachment);
      return addResult(request, pod);
    } catch (error) {
      await this.#delete(request);
      if (error instanceof CniError) throw error;
      throw new CniError(CNI_CODES.kernelFailure, 'the interface of the pod could not be made', (error as Error).message, { cause: error });
    }
  }

  /** A repeated request completes what an earlier one may have created partially. */
  async #create(pod: PodInterface, isRepeated: boolean): Promise<void> {
    const { kernel } = this.deps;
    if (isRepeated) await deletePodInterface(kernel, pod.hostInterface);
    await createPodInterface(kernel, pod);
  }

  #interfaceOf(attachment: Attachment, { bandwidth }: CniRequest): PodInterface {
    const { netns, ifName, hostInterface, addresses } = attachment;
    const gateways = this.#readyPool().ranges.map((range) => range.gateway);
    return { netns, ifName, hostInterface, addresses, gateways, mtu: this.deps.mtu(), bandwidth };
  }

  /** Deleting a missing attachment succeeds, as the specification requires. Addresses are released last. */
  async #delete(key: AttachmentKey): Promise<undefined> {
    const id = attachmentId(key);
    const attachment = this.#attachments.get(id);
    await deletePodInterface(this.deps.kernel, attachment?.hostInterface ?? hostInterfaceName(key));
    if (attachment === undefined) return;
    for (const observer of this.deps.observers) await observer.detached(attachment);
    await this.deps.store.remove(key);
    this.#attachments.delete(id);
    this.#pool?.release(attachment.addresses);
  }

  async #check(request: CniRequest): Promise<undefined> {
    const attachment = this.#attachments.get(attachmentId(request));
    if (attachment === undefined) throw new CniError(CNI_CODES.unknownContainer, `unknown container ${request.containerId}`);
    const problem = await podInterfaceProblem(this.deps.kernel, attachment);
    if (problem !== undefined) throw new CniError(CNI_CODES.checkFailed, 'the interface of the pod is not as it was made', problem);
  }

  async #removeAllBut(valid: readonly AttachmentKey[]): Promise<undefined> {
    const keep = new Set(valid.map(attachmentId));
    for (const [id, attachment] of [...this.#attachments]) {
      if (!keep.has(id)) await this.#exclusively(attachment, () => this.#delete(attachment));
    }
  }

  async #loopback({ command, netns, cniVersion }: CniRequest): Promise<object | undefined> {
    if (command !== 'ADD') return undefined;
    await this.deps.kernel.ip([['link', 'set', 'lo', 'up']], { netns });
    const ips = ['127.0.0.1/8', '::1/128'].map((address) => ({ ...versionField(cniVersion, address), interface: 0, address }));
    return { interfaces: [{ name: 'lo', mac: '00:00:00:00:00:00', sandbox: netns }], ips };
  }
}

function attachmentOf(request: CniRequest, addresses: readonly string[]): Attachment {
  const { containerId, ifName, netns, args, portMappings } = request;
  const pod = {
    podNamespace: args.get('K8S_POD_NAMESPACE') ?? '',
    podName: args.get('K8S_POD_NAME') ?? '',
    podUid: args.get('K8S_POD_UID') ?? '',
  };
  return { containerId, ifName, netns, hostInterface: hostInterfaceName(request), addresses, portMappings, ...pod };
}

/** Results before CNI 1.0 have the family of each address. */
function versionField(cniVersion: string, address: string): { readonly version?: '4' | '6' } {
  return cniVersion.startsWith('0.') ? { version: isIpv6(address) ? '6' : '4' } : {};
}

function addResult({ cniVersion }: CniRequest, pod: PodInterface): object {
  const { addresses, gateways, ifName, netns, hostInterface, mtu } = pod;
  const withMtu = cniVersion === '1.1.0' ? { mtu } : {};
  return {
    interfaces: [
      { name: hostInterface, ...withMtu },
      { name: ifName, mac: podMac(addresses), sandbox: netns, ...withMtu },
    ],
    ips: addresses.map((address, i) => {
      return { ...versionField(cniVersion, address), address: hostRoute(address), gateway: gateways[i], interface: 1 };
    }),
    routes: gateways.map((gateway) => ({ dst: isIpv6(gateway) ? '::/0' : '0.0.0.0/0', gw: gateway })),
    dns: {},
  };
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
