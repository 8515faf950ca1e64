import { core, resource } from '#api';
import { keyOf, type SharedInformer } from '#client';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { ClaimRelease } from './claim-release.ts';
import { PodClaims } from './pod-claims.ts';
import { claimNamesOf, isPodDone, needsWork, owningPod } from './reconcile.ts';

type Claim = resource.ResourceClaim;
type Template = resource.ResourceClaimTemplate;

const CONCURRENCY = 50;
const BY_CLAIM = 'resourceClaim';
const BY_TEMPLATE = 'resourceClaimTemplate';

/** Creates claims from templates, reserves claims for pods that bypassed the scheduler, and releases unused claims. */
export const resourceClaimController: Controller = {
  name: 'resourceclaim-controller',
  aliases: ['resource-claim-controller'],
  enabledByDefault: true,
  start: (context) => new ResourceClaimController(context),
};

class ResourceClaimController implements RunningController {
  readonly #podQueue: KeyedController;
  readonly #claimQueue: KeyedController;
  readonly #pods: SharedInformer<core.Pod>;
  readonly #claims: SharedInformer<Claim>;
  readonly #release: ClaimRelease;

  constructor(context: ControllerContext) {
    this.#pods = context.informers.of(core.Pod).addIndex(BY_CLAIM, claimKeys).addIndex(BY_TEMPLATE, templateKeys);
    this.#claims = context.informers.of(resource.ResourceClaim);
    const templates = context.informers.of(resource.ResourceClaimTemplate);
    const podClaims = new PodClaims(context, { pods: this.#pods, claims: this.#claims, templates });
    this.#release = new ClaimRelease(context, { pods: this.#pods, claims: this.#claims });
    const common = { name: 'resource_claim', concurrency: CONCURRENCY, isExpected: isGone };
    this.#podQueue = new KeyedController(context, { ...common, objects: this.#pods.lister, sync: (key) => podClaims.sync(key) });
    this.#claimQueue = new KeyedController(context, { ...common, objects: this.#claims.lister, sync: (key) => this.#release.sync(key) });
    this.#follow(templates);
  }

  #follow(templates: SharedInformer<Template>): void {
    this.#pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (_, pod) => this.#podChanged(pod),
      delete: (pod) => this.#podDeleted(pod),
    });
    const changed = (claim: Claim) => {
      this.#claimQueue.enqueue(claim);
      this.#enqueuePodsOf(claim);
    };
    this.#claims.addHandler({ add: changed, update: (_, claim) => changed(claim), delete: (claim) => this.#enqueuePodsOf(claim) });
    const considerUsers = (template: Template) => {
      for (const pod of this.#pods.lister.byIndex(BY_TEMPLATE, keyOf(template))) this.#podChanged(pod);
    };
    templates.addHandler({ add: considerUsers, update: (_, template) => considerUsers(template) });
  }

  async run(): Promise<void> {
    await Promise.all([this.#podQueue.run(), this.#claimQueue.run()]);
  }

  #podChanged(pod: core.Pod): void {
    if (!usesClaims(pod)) return;
    if (isPodDone(pod)) this.#enqueueClaimsOf(pod);
    const { namespace } = pod.metadata;
    if (needsWork(pod, (name) => this.#claims.lister.get({ name, namespace }))) this.#podQueue.enqueue(pod);
  }

  #podDeleted(pod: core.Pod): void {
    if (!usesClaims(pod)) return;
    this.#release.recordDeletedPod(pod);
    this.#enqueueClaimsOf(pod);
  }

  /** Pods that reference the claim, and the one that it was generated for, which may not reference it yet. */
  #enqueuePodsOf(claim: Claim): void {
    for (const pod of this.#pods.lister.byIndex(BY_CLAIM, keyOf(claim))) this.#podChanged(pod);
    const owner = owningPod(claim);
    const pod = owner && this.#pods.lister.get({ name: owner.name, namespace: claim.metadata.namespace });
    if (pod !== undefined) this.#podChanged(pod);
  }

  #enqueueClaimsOf(pod: core.Pod): void {
    for (const key of claimKeys(pod)) this.#claimQueue.queue.add(key);
  }
}

function usesClaims({ spec, status }: core.Pod): boolean {
  return (spec?.resourceClaims?.length ?? 0) > 0 || status?.extendedResourceClaimStatus !== undefined;
}

function claimKeys(pod: core.Pod): readonly string[] {
  return usesClaims(pod) ? claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`) : [];
}

function templateKeys({ metadata, spec }: core.Pod): readonly string[] {
  const names = spec?.resourceClaims?.flatMap(({ resourceClaimTemplateName: name }) => (name === undefined ? [] : [name])) ?? [];
  return [...new Set(names)].map((name) => `${metadata.namespace}/${name}`);
}
