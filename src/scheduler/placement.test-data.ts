import type { core, policy, resource, storage } from '#api';
import { type Clock, type Random, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client, type Identified, ObjectCache } from '#client';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import { buildProfile } from './config/build-profile.ts';
import { readSchedulerConfiguration } from './config/scheduler-configuration.ts';
import { Nominations } from './framework/nominations.ts';
import type { OwnerSelector, PluginHandle } from './framework/plugin.ts';
import type { Profile } from './framework/profile.ts';
import { ATTACHMENTS_BY_NODE, nodeOfAttachment } from './framework/volume-attachments.ts';
import { claimOrClassOf, VOLUMES_BY_CLAIM } from './framework/volume-claims.ts';
import { InMemoryCluster } from './in-memory-cluster.test-setup.ts';
import { type Placement, scheduleOne } from './schedule-one.ts';

/** A static cluster, for tests of single placements. */
export interface ClusterState {
  readonly nodes?: readonly core.Node[];
  /** On their nodes already. */
  readonly pods?: readonly core.Pod[];
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly services?: readonly core.Service[];
  readonly claims?: readonly core.PersistentVolumeClaim[];
  readonly volumes?: readonly core.PersistentVolume[];
  readonly storageClasses?: readonly storage.StorageClass[];
  readonly csiNodes?: readonly storage.CSINode[];
  readonly csiDrivers?: readonly storage.CSIDriver[];
  readonly csiStorageCapacities?: readonly storage.CSIStorageCapacity[];
  readonly volumeAttachments?: readonly storage.VolumeAttachment[];
  readonly resourceClaims?: readonly resource.ResourceClaim[];
  readonly resourceSlices?: readonly resource.ResourceSlice[];
  readonly deviceClasses?: readonly resource.DeviceClass[];
  readonly budgets?: readonly policy.PodDisruptionBudget[];
  readonly ownerSelector?: OwnerSelector;
  readonly configuration?: unknown;
  readonly random?: Random;
}

/** Places one pod, with all default plugins by default. */
export function place(pod: core.Pod, state: ClusterState): Placement {
  const { nodes = [], pods = [], namespaces = {}, random = seededRandom(7) } = state;
  const labels = { labelsOf: (name: string) => namespaces[name] };
  const cache = new SchedulerCache(labels);
  for (const node of nodes) cache.setNode(node);
  for (const placed of pods) cache.setPod(placed);
  const { percentageOfNodesToScore } = readSchedulerConfiguration(state.configuration);
  return scheduleOne(cache.podInfo(pod), {
    profile: profileFor(state, random),
    snapshot: cache,
    nominations: new Nominations(),
    random,
    startIndex: 0,
    percentageOfNodesToScore,
  });
}

/** The profile of the default scheduler, over the objects of a cluster. */
export function profileFor(state: ClusterState, random: Random = seededRandom(7)): Profile {
  const { namespaces = {}, configuration } = state;
  const labels = { labelsOf: (name: string) => namespaces[name] };
  return buildProfile(readSchedulerConfiguration(configuration).profiles[0]!, handleOf(state, { namespaces: labels, random }));
}

function handleOf(state: ClusterState, { namespaces, random }: Pick<PluginHandle, 'namespaces' | 'random'>): PluginHandle {
  const clock: Clock = new VirtualClock();
  return {
    client: new Client(new InMemoryCluster()),
    clock,
    random,
    logger: silentLogger,
    signal: new AbortController().signal,
    schedulerName: 'default-scheduler',
    namespaces,
    onClaimChange: () => {},
    objects: {
      pods: listed(state.pods),
      services: listed(state.services),
      claims: listed(state.claims),
      volumes: volumesOf(state),
      storageClasses: listed(state.storageClasses),
      csiNodes: listed(state.csiNodes),
      csiDrivers: listed(state.csiDrivers),
      csiStorageCapacities: listed(state.csiStorageCapacities),
      volumeAttachments: attachmentsOf(state),
      resourceClaims: listed(state.resourceClaims),
      resourceSlices: listed(state.resourceSlices),
      deviceClasses: listed(state.deviceClasses),
      disruptionBudgets: listed(state.budgets),
      ownerSelector: () => state.ownerSelector,
    },
  };
}

function attachmentsOf({ volumeAttachments }: ClusterState): ObjectCache<storage.VolumeAttachment> {
  const attachments = listed(volumeAttachments);
  attachments.addIndex(ATTACHMENTS_BY_NODE, nodeOfAttachment);
  return attachments;
}

function volumesOf({ volumes }: ClusterState): ObjectCache<core.PersistentVolume> {
  const cache = listed(volumes);
  cache.addIndex(VOLUMES_BY_CLAIM, claimOrClassOf);
  return cache;
}

function listed<T extends Identified>(objects: readonly T[] = []): ObjectCache<T> {
  const cache = new ObjectCache<T>();
  for (const object of objects) cache.set(object);
  return cache;
}

/** The node that a pod was placed on, or the message why it was not. */
export function outcome(placement: Placement): string {
  return placement.type === 'placed' ? placement.node.name : placement.message;
}

interface NodeShape {
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly taints?: readonly core.Taint[];
  readonly unschedulable?: boolean;
  readonly images?: core.NodeStatus['images'];
}

/** 4 CPUs, 8 GiB, 110 pods, by default. */
export function node(name: string, { labels, allocatable, taints, unschedulable, images }: NodeShape = {}): core.Node {
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { ...(taints && { taints: [...taints] }), ...(unschedulable !== undefined && { unschedulable }) },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable }, ...(images && { images }) },
  } as core.Node;
}

interface PodShape {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly spec?: Partial<core.PodSpec>;
  readonly status?: core.PodStatus;
  readonly on?: string;
  readonly priority?: number;
  readonly deletionTimestamp?: string;
}

export function pod(name: string, shape: PodShape = {}): core.Pod {
  const { namespace = 'default', labels = {}, requests = {}, spec = {}, status = {}, on, priority = 0, deletionTimestamp } = shape;
  return {
    metadata: { name, namespace, uid: `${namespace}-${name}`, generation: 1, labels, ...(deletionTimestamp && { deletionTimestamp }) },
    spec: {
      schedulerName: 'default-scheduler',
      priority,
      containers: [{ name: 'main', image: 'img', resources: { requests } }],
      ...(on && { nodeName: on }),
      ...spec,
    },
    status,
  } as core.Pod;
}
