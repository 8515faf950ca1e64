import type { apps, core } from '#api';

type StatefulSet = apps.StatefulSet;

export const REVISION_LABEL = 'controller-revision-hash';
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** The pod's ordinal; undefined if its name has none. */
export function ordinalOf(set: StatefulSet, { metadata }: core.Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = metadata.name.startsWith(prefix) ? metadata.name.slice(prefix.length) : '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

export function startOf({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

/** Whether the pod's ordinal is within the desired range. */
export function isInRange(set: StatefulSet, pod: core.Pod): boolean {
  const ordinal = ordinalOf(set, pod);
  const start = startOf(set);
  return ordinal !== undefined && ordinal >= start && ordinal < start + (set.spec?.replicas ?? 1);
}

export function hasIdentity(set: StatefulSet, pod: core.Pod): boolean {
  const { name, labels } = pod.metadata;
  const ordinal = ordinalOf(set, pod);
  return ordinal !== undefined && name === podName(set, ordinal) && labels?.[NAME_LABEL] === name;
}

/** Whether its volumes refer to its claims. */
export function hasStorage(set: StatefulSet, pod: core.Pod): boolean {
  const ordinal = ordinalOf(set, pod) ?? 0;
  const volumes = new Map(pod.spec?.volumes?.map((volume) => [volume.name, volume]));
  return claimVolumes(set, ordinal).every(
    ({ name, persistentVolumeClaim }) => volumes.get(name)?.persistentVolumeClaim?.claimName === persistentVolumeClaim.claimName,
  );
}

/** The pod with its identity and volumes restored; the same object if unchanged. */
export function repairedPod(set: StatefulSet, pod: core.Pod): core.Pod {
  const ordinal = ordinalOf(set, pod) ?? 0;
  const labels = { ...pod.metadata.labels, [NAME_LABEL]: podName(set, ordinal), [INDEX_LABEL]: String(ordinal) };
  const named = hasIdentity(set, pod) ? pod : { ...pod, metadata: { ...pod.metadata, labels } };
  if (hasStorage(set, pod) || named.spec === undefined) return named;
  return { ...named, spec: { ...named.spec, volumes: volumesFor(set, ordinal, named.spec.volumes) } };
}

function claimVolumes(set: StatefulSet, ordinal: number) {
  return (set.spec?.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
}

/** The volumes of its claims, and the template's other volumes. */
function volumesFor(set: StatefulSet, ordinal: number, volumes: readonly core.Volume[] = []): core.Volume[] {
  const claimed = claimVolumes(set, ordinal);
  const names = new Set(claimed.map(({ name }) => name));
  return [...claimed, ...volumes.filter(({ name }) => !names.has(name))];
}

export function claimName(set: StatefulSet, template: core.PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${podName(set, ordinal)}`;
}

/** The claims to create for a pod. */
export function claimsFor(set: StatefulSet, ordinal: number): readonly core.PersistentVolumeClaim[] {
  const { namespace = '' } = set.metadata;
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => {
    const { annotations, labels } = template.metadata;
    const metadata = {
      name: claimName(set, template, ordinal),
      namespace,
      labels: { ...labels, ...set.spec?.selector?.matchLabels },
      ...(annotations && { annotations }),
    };
    return { metadata, ...(template.spec && { spec: template.spec }) };
  });
}

export interface StatefulPodOptions {
  readonly ordinal: number;
  readonly template: core.PodTemplateSpec;
  readonly revision: string;
}

export function templateFor(set: StatefulSet, { ordinal, template, revision }: StatefulPodOptions): core.PodTemplateSpec {
  const name = podName(set, ordinal);
  const spec = template.spec!;
  const volumes = volumesFor(set, ordinal, spec.volumes);
  const { serviceName } = set.spec ?? {};
  const labels = { ...template.metadata?.labels, [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal), [REVISION_LABEL]: revision };
  return {
    metadata: { ...template.metadata, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}
