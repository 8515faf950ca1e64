import type { core } from '#api';
import type { Clock } from '#base';
import { type Client, type DiscoveredResource, type Discovery, discover, preferredResources, type ResourceClient } from '#client';
import { groupResourceText, isStatusReason, parseTime } from '#machinery';
import { countRemaining, type DeletionResult, type RemainingContent, terminationEstimate } from './reconcile.ts';

export interface ContentDeletion {
  readonly result: DeletionResult;
  /** Seconds until the next attempt; 0 when nothing remains. */
  readonly estimateSeconds: number;
  /** Errors of the attempt. */
  readonly errors: readonly unknown[];
}

/** The wait for objects that have finalizers. */
const FINALIZER_ESTIMATE_SECONDS = 15;

export interface DeleteContentDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Deletes everything in a namespace: pods first, the rest once they are gone, since pods may need it to shut down. */
export async function deleteContent(namespace: core.Namespace, deps: DeleteContentDeps): Promise<ContentDeletion> {
  const pass = new Pass(namespace, deps);
  const { discovery, problem } = await tryDiscover(deps);
  if (problem) pass.errors.push(new Error(problem.message));
  const resources = preferredResources(discovery).filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete'));
  const pods = resources.find(isPods);
  if (pods)
    await pass.deleteAll(
      pods,
      (error) => new Error(`failed to delete pods for namespace: ${namespace.metadata.name}, err: ${text(error)}`),
    );
  if (pass.remaining.length > 0) return pass.result({ discovery: problem, countContent: false });
  await Promise.all(resources.filter((resource) => !isPods(resource)).map((resource) => pass.deleteAll(resource)));
  return pass.result({ discovery: problem, countContent: true });
}

function isPods({ group, resource }: DiscoveredResource): boolean {
  return group === '' && resource === 'pods';
}

async function tryDiscover({ client, signal }: DeleteContentDeps): Promise<{ discovery: Discovery; problem: DeletionResult['discovery'] }> {
  try {
    const discovery = await discover(client.transport, signal);
    const { failures } = discovery;
    if (failures.size === 0) return { discovery, problem: undefined };
    const lines = [...failures].map(([version, error]) => `${version}: ${text(error)}`);
    return {
      discovery,
      problem: { message: `unable to retrieve the complete list of server APIs: ${lines.join(', ')}`, groups: failures.size },
    };
  } catch (error) {
    return { discovery: { resources: [], failures: new Map() }, problem: { message: text(error), groups: 0 } };
  }
}

/** One pass over the content of one namespace. */
class Pass {
  readonly errors: unknown[] = [];
  readonly remaining: RemainingContent[] = [];
  readonly #failures: string[] = [];
  #estimate = 0;

  constructor(
    private readonly namespace: core.Namespace,
    private readonly deps: DeleteContentDeps,
  ) {}

  /** A resource that cannot be deleted is recorded and does not block the others. */
  async deleteAll(resource: DiscoveredResource, wrap: (error: unknown) => unknown = (error) => error): Promise<void> {
    try {
      await this.#deleteAll(resource);
    } catch (error) {
      this.errors.push(wrap(error));
      this.#failures.push(text(error));
    }
  }

  result({ discovery, countContent }: { discovery: DeletionResult['discovery']; countContent: boolean }): ContentDeletion {
    // While pods remain, the other resources are not counted: they were not listed.
    const remaining = countContent ? this.remaining : [];
    const result = { ...(discovery && { discovery }), failures: this.#failures, remaining };
    return { result, estimateSeconds: this.#estimate, errors: this.errors };
  }

  async #deleteAll(resource: DiscoveredResource): Promise<void> {
    const client = this.deps.client.resource(resource);
    const before = await this.#list(client, resource);
    if (before === undefined || before.length === 0) return;
    const estimate = isPods(resource) ? this.#estimateFor(before as unknown as readonly core.Pod[]) : 0;
    this.#estimate = Math.max(this.#estimate, estimate);
    await this.#delete(client, resource, before);
    const after = (await this.#list(client, resource)) ?? [];
    if (after.length === 0) return;
    const remaining = countRemaining(resource, after);
    this.remaining.push(remaining);
    if (estimate > 0) return;
    if (remaining.finalizers.size === 0) {
      const { group, version, resource: name } = resource;
      const gvr = `${group}/${version}, Resource=${name}`;
      throw new Error(`unexpected items still remain in namespace: ${this.namespace.metadata.name} for gvr: ${gvr}`);
    }
    this.#estimate = Math.max(this.#estimate, FINALIZER_ESTIMATE_SECONDS);
  }

  #estimateFor(pods: readonly core.Pod[]): number {
    const { deletionTimestamp } = this.namespace.metadata;
    return terminationEstimate(pods, deletionTimestamp ? this.deps.clock.now() - parseTime(deletionTimestamp) : 0);
  }

  /** Undefined when the resource cannot be listed. */
  async #list(client: ResourceClient, { verbs, group, resource }: DiscoveredResource) {
    if (!verbs.includes('list')) return undefined;
    const isPodList = groupResourceText({ group, resource }) === 'pods';
    try {
      const { signal } = this.deps;
      return (await client.list({ namespace: this.namespace.metadata.name, metadataOnly: !isPodList, signal })).items;
    } catch (error) {
      if (isUnsupported(error)) return undefined;
      throw error;
    }
  }

  async #delete(client: ResourceClient, { verbs }: DiscoveredResource, items: readonly { metadata: { name: string } }[]): Promise<void> {
    const namespace = this.namespace.metadata.name;
    const options = { propagationPolicy: 'Background', signal: this.deps.signal } as const;
    if (verbs.includes('deletecollection')) {
      try {
        return await client.deleteCollection({ namespace }, options);
      } catch (error) {
        if (!isUnsupported(error)) throw error;
      }
    }
    for (const { metadata } of items) {
      await client.delete({ name: metadata.name, namespace }, options).catch((error: unknown) => {
        if (!isUnsupported(error)) throw error;
      });
    }
  }
}

function isUnsupported(error: unknown): boolean {
  return isStatusReason(error, 'MethodNotAllowed') || isStatusReason(error, 'NotFound');
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
