import type { apps, core } from '#api';

type StatefulSet = apps.StatefulSet;

export const REVISION_LABEL = 'controller-revision-hash';
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** The number of a pod of the set; undefined when its name has none. */
export function ordinalOf(set: StatefulSet, { metadata }: core.Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = metadata.name.startsWith(prefix) ? metadata.name.slice(prefix.length) : '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

export function claimName(set: StatefulSet, template: core.PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${podName(set, ordinal)}`;
}

/** The claims of a pod, as they are first made. */
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
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
  const others = (spec.volumes ?? []).filter((volume) => !claimed.some((claim) => claim.name === volume.name));
  const { serviceName } = set.spec ?? {};
  const labels = { ...template.metadata?.labels, [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal), [REVISION_LABEL]: revision };
  return {
    metadata: { ...template.metadata, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
      ...(claimed.length + others.length > 0 && { volumes: [...claimed, ...others] }),
    },
  };
}
