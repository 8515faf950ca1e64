import { core, networking } from '#api';
import { AsyncMutex, type KernelNetwork, type Logger } from '#base';
import { type InformerFactory, keyOf, type SharedInformer } from '#client';
import type { Attachment } from '../attachment-store.ts';
import type { AttachmentObserver } from '../pod-network.ts';
import { type PolicyPod, PolicyTable } from './policy-table.ts';

const PODS_A_TURN = 200;
const PROGRAMMED_WITHIN_MS = 2_000;

export interface PolicyAgentDeps {
  readonly kernel: KernelNetwork;
  readonly logger: Logger;
  /** Resolves after the delay, or when the agent stops. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly informers: InformerFactory;
  /** Requests a `sync`. */
  readonly onChange: () => void;
}

/** Enforces network policies for the pods of this node. */
export class PolicyAgent implements AttachmentObserver {
  readonly #tables = [new PolicyTable(4), new PolicyTable(6)];
  readonly #mutex = new AsyncMutex();
  readonly #pods: SharedInformer<core.Pod>;
  readonly #namespaces: SharedInformer<core.Namespace>;
  readonly #policies: SharedInformer<networking.NetworkPolicy>;
  /** Attachments whose addresses may not be in the pod's status yet. */
  readonly #attachments = new Map<string, Attachment>();
  readonly #dirtyPods = new Set<string>();
  readonly #dirtyNamespaces = new Set<string>();
  readonly #dirtyPolicies = new Set<string>();
  #isWhole = false;

  constructor(
    private readonly nodeName: string,
    private readonly deps: PolicyAgentDeps,
  ) {
    const { informers } = deps;
    this.#pods = informers.of(core.Pod);
    this.#namespaces = informers.of(core.Namespace);
    this.#policies = informers.of(networking.NetworkPolicy);
    this.#follow(this.#pods, this.#dirtyPods);
    this.#follow(this.#namespaces, this.#dirtyNamespaces);
    this.#follow(this.#policies, this.#dirtyPolicies);
  }

  #follow(
    informer: SharedInformer<core.Pod> | SharedInformer<core.Namespace> | SharedInformer<networking.NetworkPolicy>,
    dirty: Set<string>,
  ): void {
    const touch = (object: Parameters<typeof keyOf>[0]) => {
      dirty.add(keyOf(object));
      this.deps.onChange();
    };
    informer.addHandler({ add: touch, update: (_: unknown, after: Parameters<typeof keyOf>[0]) => touch(after), delete: touch });
  }

  /** Throws when the installed nft lacks a feature. */
  async check(): Promise<void> {
    await this.deps.kernel.run('nft', ['--check', '-f', '-'], { input: this.#tables.map((table) => table.fullScript()).join('') });
  }

  /** Adds attachments of an earlier agent. */
  adopt(attachments: Iterable<Attachment>): void {
    for (const attachment of attachments) this.#recordAttachment(attachment);
  }

  #recordAttachment(attachment: Attachment): string {
    const key = `${attachment.podNamespace}/${attachment.podName}`;
    this.#attachments.set(key, attachment);
    this.#dirtyPods.add(key);
    return key;
  }

  /** Policies are in effect before the first container of the pod runs. */
  async attached(attachment: Attachment): Promise<void> {
    const key = this.#recordAttachment(attachment);
    const { podNamespace: namespace, podName: name } = attachment;
    for (let waited = 0; waited < PROGRAMMED_WITHIN_MS && !this.#pods.lister.get({ namespace, name }); waited += 50) {
      if (!this.#tables[0]!.hasPolicies(namespace)) break;
      await this.deps.sleep(50);
    }
    this.#dirtyPods.add(key);
    await this.sync();
  }

  async detached({ podNamespace, podName, containerId }: Attachment): Promise<void> {
    const key = `${podNamespace}/${podName}`;
    if (this.#attachments.get(key)?.containerId !== containerId) return;
    this.#attachments.delete(key);
    this.#dirtyPods.add(key);
    await this.sync();
  }

  sync(): Promise<void> {
    return this.#mutex.run(() => this.#sync());
  }

  async #sync(): Promise<void> {
    const namespaces = this.#drainNamespaces();
    const hasNewPolicies = this.#drainPolicies();
    this.#drainPods();
    for (const table of this.#tables) {
      if (hasNewPolicies) await inTurns(table.refresh());
      else for (const namespace of namespaces) await inTurns(table.refresh(namespace));
    }
    await this.#apply();
  }

  #drainNamespaces(): readonly string[] {
    const changed = [...this.#dirtyNamespaces];
    this.#dirtyNamespaces.clear();
    for (const name of changed) {
      const namespace = this.#namespaces.lister.get({ name });
      for (const table of this.#tables) table.setNamespace(name, namespace && (namespace.metadata?.labels ?? {}));
    }
    return changed;
  }

  #drainPolicies(): boolean {
    const changed = [...this.#dirtyPolicies];
    this.#dirtyPolicies.clear();
    for (const key of changed) {
      const [namespace = '', name = ''] = key.split('/');
      const policy = this.#policies.lister.get({ namespace, name });
      for (const table of this.#tables) table.setPolicy(key, policy);
    }
    return changed.length > 0;
  }

  #drainPods(): void {
    const changed = [...this.#dirtyPods];
    this.#dirtyPods.clear();
    for (const key of changed) {
      const [namespace = '', name = ''] = key.split('/');
      const pod = this.#pods.lister.get({ namespace, name });
      const selected = pod && policyPod(pod, { nodeName: this.nodeName, assignedAddresses: this.#attachments.get(key)?.addresses });
      for (const table of this.#tables) table.setPod(key, selected);
    }
  }

  async #apply(): Promise<void> {
    const { kernel, logger } = this.deps;
    const change = this.#tables.map((table) => table.takeScript()).join('');
    if (this.#isWhole && change === '') return;
    try {
      if (this.#isWhole) {
        await kernel.nft(change);
        return;
      }
    } catch (error) {
      logger.warn('a change of network policies could not be applied; all of them are written again', { error });
    }
    this.#isWhole = false;
    await kernel.nft(this.#tables.map((table) => table.fullScript()).join(''));
    this.#isWhole = true;
  }

  async remove(): Promise<void> {
    await this.deps.kernel.nft(this.#tables.map((table) => table.removal()).join(''));
    this.#isWhole = false;
  }
}

/** Yields to the event loop after a number of pods. */
async function inTurns(steps: Generator<void>): Promise<void> {
  for (let count = 1; !steps.next().done; count++) if (count % PODS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
}

function policyPod(
  pod: core.Pod,
  { nodeName, assignedAddresses }: { nodeName: string; assignedAddresses: readonly string[] | undefined },
): PolicyPod | undefined {
  const { metadata, spec, status } = pod;
  if (spec?.hostNetwork || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const containers = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ];
  const ports = containers.flatMap((container) => container.ports ?? []).filter(({ name }) => name);
  return {
    namespace: metadata?.namespace ?? '',
    labels: metadata?.labels ?? {},
    addresses: assignedAddresses ?? (status?.podIPs ?? []).map(({ ip }) => ip),
    ports: ports.map(({ name, containerPort, protocol }) => ({
      name: name!,
      port: containerPort,
      protocol: (protocol ?? 'TCP').toLowerCase(),
    })),
    isLocal: spec?.nodeName === nodeName,
  };
}
