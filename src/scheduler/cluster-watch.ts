import { apps, core, policy, resource, storage } from '#api';
import type { Identified, InformerFactory, SharedInformer } from '#client';
import { type Labels, semanticEqual } from '#machinery';
import type { SchedulerCache } from './cache/scheduler-cache.ts';
import type { NamespaceLabels } from './framework/affinity-term.ts';
import type { ClusterEvent, EventAction, EventResource } from './framework/cluster-event.ts';
import type { ClusterObjects, OwnerSelector } from './framework/plugin.ts';
import { podRequests } from './framework/pod-resources.ts';
import { ATTACHMENTS_BY_NODE, nodeOfAttachment } from './framework/volume-attachments.ts';
import { claimOrClassOf, VOLUMES_BY_CLAIM } from './framework/volume-claims.ts';

/** The informers that scheduling needs, and what plugins read from them. */
export class ClusterWatch {
  readonly pods: SharedInformer<core.Pod>;
  readonly nodes: SharedInformer<core.Node>;
  readonly #namespaces: SharedInformer<core.Namespace>;
  readonly #services: SharedInformer<core.Service>;
  readonly #claims: SharedInformer<core.PersistentVolumeClaim>;
  readonly #volumes: SharedInformer<core.PersistentVolume>;
  readonly #classes: SharedInformer<storage.StorageClass>;
  readonly #csiNodes: SharedInformer<storage.CSINode>;
  readonly #csiDrivers: SharedInformer<storage.CSIDriver>;
  readonly #capacities: SharedInformer<storage.CSIStorageCapacity>;
  readonly #attachments: SharedInformer<storage.VolumeAttachment>;
  readonly #resourceClaims: SharedInformer<resource.ResourceClaim>;
  readonly #resourceSlices: SharedInformer<resource.ResourceSlice>;
  readonly #deviceClasses: SharedInformer<resource.DeviceClass>;
  readonly objects: ClusterObjects;
  readonly namespaces: NamespaceLabels;

  constructor(informers: InformerFactory) {
    this.pods = informers.of(core.Pod);
    this.nodes = informers.of(core.Node);
    this.#namespaces = informers.of(core.Namespace);
    this.#services = informers.of(core.Service);
    this.#claims = informers.of(core.PersistentVolumeClaim);
    this.#volumes = informers.of(core.PersistentVolume).addIndex(VOLUMES_BY_CLAIM, claimOrClassOf);
    this.#classes = informers.of(storage.StorageClass);
    this.#csiNodes = informers.of(storage.CSINode);
    this.#csiDrivers = informers.of(storage.CSIDriver);
    this.#capacities = informers.of(storage.CSIStorageCapacity);
    this.#attachments = informers.of(storage.VolumeAttachment).addIndex(ATTACHMENTS_BY_NODE, nodeOfAttachment);
    this.#resourceClaims = informers.of(resource.ResourceClaim);
    this.#resourceSlices = informers.of(resource.ResourceSlice);
    this.#deviceClasses = informers.of(resource.DeviceClass);
    this.namespaces = { labelsOf: (name) => this.#namespaces.lister.get({ name })?.metadata.labels as Labels | undefined };
    this.objects = {
      pods: this.pods.lister,
      services: this.#services.lister,
      claims: this.#claims.lister,
      volumes: this.#volumes.lister,
      storageClasses: this.#classes.lister,
      csiNodes: this.#csiNodes.lister,
      csiDrivers: this.#csiDrivers.lister,
      csiStorageCapacities: this.#capacities.lister,
      volumeAttachments: this.#attachments.lister,
      resourceClaims: this.#resourceClaims.lister,
      resourceSlices: this.#resourceSlices.lister,
      deviceClasses: this.#deviceClasses.lister,
      disruptionBudgets: informers.of(policy.PodDisruptionBudget).lister,
      ownerSelector: ownerSelectors(informers),
    };
  }

  /** Reports every change other than of pods and nodes. */
  onOtherChange(listener: (event: ClusterEvent) => void): Disposable[] {
    return [
      follow(this.#claims, 'PersistentVolumeClaim', listener),
      follow(this.#volumes, 'PersistentVolume', listener),
      follow(this.#classes, 'StorageClass', listener),
      follow(this.#csiNodes, 'CSINode', listener),
      follow(this.#csiDrivers, 'CSIDriver', listener),
      follow(this.#capacities, 'CSIStorageCapacity', listener),
      follow(this.#attachments, 'VolumeAttachment', listener),
      follow(this.#resourceClaims, 'ResourceClaim', listener),
      follow(this.#resourceSlices, 'ResourceSlice', listener),
      follow(this.#deviceClasses, 'DeviceClass', listener),
      follow(this.#services, 'Service', listener),
    ];
  }

  onClaimChange(listener: (claim: core.PersistentVolumeClaim) => void): Disposable {
    return this.#claims.addHandler({ add: listener, update: (_, claim) => listener(claim), delete: listener });
  }

  onNamespaceChange(listener: () => void): Disposable {
    return this.#namespaces.addHandler({
      add: () => listener(),
      update: (before, after) => {
        if (!semanticEqual(before.metadata.labels, after.metadata.labels)) listener();
      },
    });
  }
}

function ownerSelectors(informers: InformerFactory): ClusterObjects['ownerSelector'] {
  const replicaSets = informers.of(apps.ReplicaSet).lister;
  const statefulSets = informers.of(apps.StatefulSet).lister;
  const controllers = informers.of(core.ReplicationController).lister;
  return ({ metadata }) => {
    const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
    if (owner === undefined) return undefined;
    const key = { name: owner.name, namespace: metadata.namespace };
    switch (owner.kind) {
      case 'ReplicaSet':
        return replicaSets.get(key)?.spec?.selector as OwnerSelector | undefined;
      case 'StatefulSet':
        return statefulSets.get(key)?.spec?.selector as OwnerSelector | undefined;
      case 'ReplicationController': {
        const matchLabels = controllers.get(key)?.spec?.selector as Labels | undefined;
        return matchLabels && { matchLabels };
      }
      default:
        return undefined;
    }
  };
}

function follow<T extends Identified>(
  informer: SharedInformer<T>,
  resource: EventResource,
  listener: (event: ClusterEvent) => void,
): Disposable {
  const event = (action: EventAction, objects: { before?: T; after?: T }) =>
    listener({ resource, action, label: resource + action, ...objects });
  return informer.addHandler({
    add: (after) => event('Add', { after }),
    update: (before, after) => event('Update', { before, after }),
    delete: (before) => event('Delete', { before }),
  });
}

/** The changes of a node that are relevant to pending pods. */
export function nodeChanges(before: core.Node, after: core.Node): readonly ClusterEvent[] {
  const events: ClusterEvent[] = [];
  const add = (action: EventAction) =>
    events.push({ resource: 'Node', action, label: `${action.replace('UpdateNode', 'Node')}Change`, before, after });
  if (!semanticEqual(before.status?.allocatable as never, after.status?.allocatable as never)) add('UpdateNodeAllocatable');
  if (!semanticEqual(before.metadata.labels, after.metadata.labels)) add('UpdateNodeLabel');
  if (
    !semanticEqual(before.spec?.taints as never, after.spec?.taints as never) ||
    before.spec?.unschedulable !== after.spec?.unschedulable
  ) {
    add('UpdateNodeTaint');
  }
  if (!semanticEqual(before.metadata.annotations, after.metadata.annotations)) add('UpdateNodeAnnotation');
  if (!semanticEqual(before.status?.declaredFeatures as never, after.status?.declaredFeatures as never)) add('UpdateNodeDeclaredFeature');
  return events;
}

/** The changes of a pod that are relevant to pending pods, including itself. */
export function podChanges(
  before: core.Pod,
  after: core.Pod,
  { resource, cache }: { resource: EventResource; cache: SchedulerCache },
): readonly ClusterEvent[] {
  const events: ClusterEvent[] = [];
  const add = (action: EventAction) => events.push({ resource, action, label: `${resource}${action}`, before, after });
  if (!semanticEqual(before.metadata.labels, after.metadata.labels)) add('UpdatePodLabel');
  if (!semanticEqual(before.status?.resourceClaimStatuses as never, after.status?.resourceClaimStatuses as never)) {
    add('UpdatePodGeneratedResourceClaim');
  }
  if (hadGates(before) && !hadGates(after)) add('UpdatePodSchedulingGatesEliminated');
  if ((before.spec?.tolerations?.length ?? 0) !== (after.spec?.tolerations?.length ?? 0)) add('UpdatePodToleration');
  if (before.metadata.generation !== after.metadata.generation && needsLess(before, after, cache)) add('UpdatePodScaleDown');
  if ((before.metadata.deletionTimestamp == null) !== (after.metadata.deletionTimestamp == null)) add('Update');
  return events;
}

function hadGates({ spec }: core.Pod): boolean {
  return (spec?.schedulingGates?.length ?? 0) > 0;
}

function needsLess(before: core.Pod, after: core.Pod, { quantities }: SchedulerCache): boolean {
  const was = podRequests(before, quantities).requests;
  const is = podRequests(after, quantities).requests;
  if (is.milliCpu < was.milliCpu || is.memory < was.memory || is.ephemeralStorage < was.ephemeralStorage) return true;
  return [...(was.scalars ?? [])].some(([name, amount]) => (is.scalars?.get(name) ?? 0) < amount);
}
