import { core, resource } from '#api';
import { parseKey, type SharedInformer } from '#client';
import { StatusError } from '#machinery';
import type { ControllerContext } from '../runtime/controller.ts';
import { isControlledBy } from '../runtime/controller-ref.ts';
import { OwnWrites } from '../runtime/own-writes.ts';
import { claimFromTemplate, isPodDone, needsReservation, POD_CLAIM_ANNOTATION, withReservedFor } from './reconcile.ts';

type Claim = resource.ResourceClaim;
type Entry = core.PodResourceClaim;

const FIELD_MANAGER = 'ResourceClaimController';
const BY_OWNER = 'controller';
const ownerOf = ({ metadata }: Claim) => metadata.ownerReferences?.flatMap(({ controller, uid }) => (controller ? [uid] : [])) ?? [];

interface Caches {
  readonly pods: SharedInformer<core.Pod>;
  readonly claims: SharedInformer<Claim>;
  readonly templates: SharedInformer<resource.ResourceClaimTemplate>;
}

/** Provides pods with the claims in their spec. */
export class PodClaims {
  readonly #ownWrites = new OwnWrites();

  constructor(
    private readonly context: ControllerContext,
    private readonly caches: Caches,
  ) {
    caches.claims.addIndex(BY_OWNER, ownerOf);
  }

  async sync(key: string): Promise<void> {
    // The event of the created claim requeues the pod.
    if (!this.#ownWrites.clearSeen(key)) return;
    const pod = this.caches.pods.lister.get(parseKey(key));
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return;
    await this.#provide(key, pod);
    await this.#reserve(pod);
  }

  async #provide(key: string, pod: core.Pod): Promise<void> {
    const { name: podName, namespace = '' } = pod.metadata;
    const recorded = (pod.status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName] as const);
    const names = new Map(recorded);
    for (const entry of pod.spec?.resourceClaims ?? []) {
      if (this.#isProvided(pod, entry)) continue;
      const claim = this.#findGenerated(pod, entry) ?? (await this.#make(key, pod, entry));
      names.set(entry.name, claim.metadata.name);
    }
    if (recorded.every(([name, claim]) => names.get(name) === claim) && names.size === recorded.length) return;
    const resourceClaimStatuses = [...names].map(([name, claim]) => ({ name, ...(claim !== undefined && { resourceClaimName: claim }) }));
    const patch = { metadata: { name: podName, namespace }, status: { resourceClaimStatuses } };
    await this.context.client.of(core.Pod).apply(patch, { subresource: 'status', fieldManager: FIELD_MANAGER, force: true });
  }

  /** It references a claim by name, needs none, or has a generated claim of its own. */
  #isProvided(pod: core.Pod, entry: Entry): boolean {
    const named = core.resourceClaimOf(pod, entry);
    if (named === 'not-made') return false;
    if (named === 'not-needed' || !named.isGenerated) return true;
    const claim = this.#claim(pod, named.name);
    return claim !== undefined && isControlledBy(claim, pod);
  }

  /** A claim that was generated for the entry before the pod's status was written. */
  #findGenerated({ metadata }: core.Pod, entry: Entry): Claim | undefined {
    const claims = this.caches.claims.lister.byIndex(BY_OWNER, metadata.uid ?? '');
    return claims.find((claim) => claim.metadata.annotations?.[POD_CLAIM_ANNOTATION] === entry.name);
  }

  async #make(key: string, pod: core.Pod, entry: Entry): Promise<Claim> {
    try {
      const template = this.#template(pod, entry.resourceClaimTemplateName ?? '');
      const claim = await this.#create(claimFromTemplate(pod, entry.name, template));
      this.#ownWrites.wrote(key, this.caches.claims, claim);
      return claim;
    } catch (error) {
      const message = `PodResourceClaim ${entry.name}: ${(error as Error).message}`;
      this.context.recorder('resource_claim').warning(pod, 'FailedResourceClaimCreation', message);
      throw new Error(`pod ${key}, ${message}`, { cause: error });
    }
  }

  #template({ metadata }: core.Pod, name: string): resource.ResourceClaimTemplate {
    const template = this.caches.templates.lister.get({ name, namespace: metadata.namespace });
    if (template !== undefined) return template;
    const missing = StatusError.notFound({ group: resource.ResourceClaimTemplate.group, resource: 'resourceclaimtemplate' }, name);
    throw new Error(`resource claim template "${name}": ${missing.message}`, { cause: missing });
  }

  async #create(draft: ReturnType<typeof claimFromTemplate>): Promise<Claim> {
    try {
      return await this.context.client.of(resource.ResourceClaim).create(draft);
    } catch (error) {
      // The claim has no name yet: upstream's message has nothing before the colon either.
      throw new Error(`create ResourceClaim : ${(error as Error).message}`, { cause: error });
    }
  }

  async #reserve(pod: core.Pod): Promise<void> {
    for (const entry of pod.spec?.resourceClaims ?? []) {
      const named = core.resourceClaimOf(pod, entry);
      const claim = typeof named === 'string' ? undefined : this.#claim(pod, named.name);
      if (claim === undefined || !needsReservation(pod, claim)) continue;
      if (entry.resourceClaimTemplateName !== undefined && !isControlledBy(claim, pod)) continue;
      await this.context.client.of(resource.ResourceClaim).updateStatus(withReservedFor(claim, pod));
    }
  }

  #claim({ metadata }: core.Pod, name: string): Claim | undefined {
    return this.caches.claims.lister.get({ name, namespace: metadata.namespace });
  }
}
