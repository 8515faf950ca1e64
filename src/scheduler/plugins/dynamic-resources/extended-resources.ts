import type { core, resource } from '#api';
import type { Lister } from '#client';
import { compareBytes, parseTime } from '#machinery';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { Claim } from './device-request.ts';

/** Marks the claim that the scheduler makes for a pod's extended resources. */
const ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';
/** An extended resource of this prefix names the device class itself. */
const CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';
/** The name of the claim until it is created: no claim in the cluster can have it. */
const IN_MEMORY_NAME = '<extended-resources>';

type DeviceClasses = Lister<resource.DeviceClass>;
type Mapping = core.ContainerExtendedResourceRequest;
type Request = resource.DeviceRequest;

/** The devices that a pod's extended resources need on one node. */
export interface NodeClaim {
  readonly claim: Claim;
  readonly mappings: readonly Mapping[];
}

/** The class whose devices back an extended resource; undefined if there is none. Of several, the newest. */
export function classForResource(name: string, classes: DeviceClasses): resource.DeviceClass | undefined {
  if (name.startsWith(CLASS_PREFIX)) return classes.get({ name: name.slice(CLASS_PREFIX.length) });
  let newest: resource.DeviceClass | undefined;
  for (const candidate of classes.list()) {
    if (candidate.spec.extendedResourceName === name && (newest === undefined || precedes(candidate, newest))) newest = candidate;
  }
  return newest;
}

function precedes(a: resource.DeviceClass, b: resource.DeviceClass): boolean {
  const difference = createdAt(a) - createdAt(b);
  return difference === 0 ? compareBytes(a.metadata.name, b.metadata.name) < 0 : difference > 0;
}

function createdAt({ metadata }: resource.DeviceClass): number {
  return parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
}

/** Names of the extended resources of a pod that devices back. */
export function backedResources({ requests }: PodInfo, classes: DeviceClasses): readonly string[] {
  if (requests.scalars === undefined) return [];
  return [...requests.scalars]
    .filter(([name, amount]) => amount > 0 && classForResource(name, classes) !== undefined)
    .map(([name]) => name);
}

/** The claim of an earlier attempt, or one in memory to be completed for each node. */
export function extendedClaim({ pod, namespace, name, uid }: PodInfo, claims: Lister<Claim>, newUid: string): Claim {
  const earlier = claims.list(namespace).find(({ metadata }) => {
    const isOwned = metadata.ownerReferences?.some(
      (owner) => owner.controller === true && owner.uid === uid && owner.name === pod.metadata.name,
    );
    return metadata.annotations?.[ANNOTATION] === 'true' && isOwned === true;
  });
  if (earlier !== undefined) return earlier;
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true };
  return {
    metadata: {
      name: IN_MEMORY_NAME,
      namespace,
      uid: newUid,
      generateName: `${name}-extended-resources-`,
      ownerReferences: [owner],
      annotations: { [ANNOTATION]: 'true' },
    },
    spec: {},
  } as Claim;
}

export function isInMemory({ metadata }: Pick<Claim, 'metadata'>): boolean {
  return metadata.name === IN_MEMORY_NAME;
}

/** The claim to create. */
export function claimDraft({ metadata, spec }: Claim) {
  const { name: _, uid: __, ...rest } = metadata;
  return { metadata: rest, spec };
}

/** The claim with requests for resources that no device plugin of the node advertises; undefined when there are none. */
export function claimForNode(
  claim: Claim,
  { pod, node, classes }: { pod: PodInfo; node: NodeInfo; classes: DeviceClasses },
): NodeClaim | undefined {
  const names = backedResources(pod, classes).filter((name) => (node.allocatable.scalars?.get(name) ?? 0) === 0);
  if (names.length === 0) return undefined;
  const parts = [...names].sort(compareBytes).map((name) => partFor(name, classForResource(name, classes)!.metadata.name, pod));
  const requests = parts.flatMap((part) => part.requests).sort((a, b) => compareBytes(a.name, b.name));
  return { claim: { ...claim, spec: { devices: { requests } } } as Claim, mappings: parts.flatMap((part) => part.mappings) };
}

interface ResourcePart {
  readonly requests: readonly Request[];
  readonly mappings: readonly Mapping[];
}

/** Init containers run one after another and before the others: they use the others' devices, and among each other the same ones. */
function partFor(resourceName: string, className: string, { pod }: PodInfo): ResourcePart {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const all = [...initContainers, ...containers];
  const isShortLived = (i: number) => i < initContainers.length && all[i]?.restartPolicy !== 'Always';
  const requestOf = (i: number, reusable: readonly (Request | undefined)[]) =>
    requestFor({ container: all[i] as core.Container, index: i, resourceName, className, reusable });
  const lasting = all.map((_, i) => (isShortLived(i) ? undefined : requestOf(i, [])));
  const brief = all.flatMap((_, i) =>
    isShortLived(i)
      ? [
          requestOf(
            i,
            lasting.slice(i).map((container) => container?.request),
          ),
        ]
      : [],
  );
  const largest = brief.reduce<Request | undefined>((most, { request }) => (countOf(request) > countOf(most) ? request : most), undefined);
  const briefNames = new Set(brief.flatMap(({ request }) => request?.name ?? []));
  const shared = (mapping: Mapping) =>
    largest && briefNames.has(mapping.requestName) ? { ...mapping, requestName: largest.name } : mapping;
  return {
    requests: [...(largest ? [largest] : []), ...lasting.flatMap((container) => container?.request ?? [])],
    mappings: [...lasting.flatMap((container) => container?.mappings ?? []), ...brief.flatMap(({ mappings }) => mappings.map(shared))],
  };
}

function countOf(request: Request | undefined): number {
  return Number(request?.exactly?.count ?? 0);
}

interface ContainerDemand {
  readonly container: core.Container;
  /** Among all containers, init containers first. */
  readonly index: number;
  readonly resourceName: string;
  readonly className: string;
  /** Requests of others that the container can use before it needs its own. */
  readonly reusable: readonly (Request | undefined)[];
}

function requestFor({ container, index, resourceName, className, reusable }: ContainerDemand): {
  readonly request?: Request;
  readonly mappings: readonly Mapping[];
} {
  const requests = container.resources?.requests as Readonly<Record<string, string>> | undefined;
  const quantity = Number(requests?.[resourceName] ?? 0);
  if (!(quantity > 0)) return { mappings: [] };
  const mapping = (requestName: string): Mapping => ({ containerName: container.name, resourceName, requestName });
  const mappings: Mapping[] = [];
  let covered = 0;
  for (const request of reusable) {
    if (request === undefined) continue;
    covered += countOf(request);
    mappings.push(mapping(request.name));
    if (covered >= quantity) return { mappings };
  }
  const name = `container-${index}-request-${Object.keys(requests ?? {})
    .sort(compareBytes)
    .indexOf(resourceName)}`;
  const exactly = { deviceClassName: className, allocationMode: 'ExactCount', count: quantity - covered };
  return { request: { name, exactly } as Request, mappings: [...mappings, mapping(name)] };
}
