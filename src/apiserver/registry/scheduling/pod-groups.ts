import { schedulingV1alpha2 as v1alpha2 } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

type GroupFields = Partial<v1alpha2.PodGroupTemplate> & Partial<v1alpha2.PodGroupSpec>;

/** Fields of disabled feature gates: existing values are kept. */
const GATED_FIELDS: readonly (keyof GroupFields)[] = [
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
];
const DEFAULT_DISRUPTION = 'Pod';

function withoutGatedFields<T extends GroupFields>(fields: T, old: GroupFields | undefined): T {
  const dropped = GATED_FIELDS.filter((name) => fields[name] !== undefined && !old?.[name]);
  if (dropped.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !dropped.includes(name as keyof GroupFields))) as T;
}

/** Groups always have a disruption mode: upstream sets the default when it reads one. */
function prepareGroup(group: v1alpha2.PodGroup, old?: v1alpha2.PodGroup): v1alpha2.PodGroup {
  const spec = withoutGatedFields(group.spec ?? {}, old?.spec);
  return { ...group, spec: { ...spec, disruptionMode: spec.disruptionMode ?? DEFAULT_DISRUPTION } as v1alpha2.PodGroupSpec };
}

function withoutClaimStatuses(group: v1alpha2.PodGroup, old: v1alpha2.PodGroup): v1alpha2.PodGroup {
  if (group.status?.resourceClaimStatuses === undefined || old.spec?.resourceClaims?.length) return group;
  const { resourceClaimStatuses: _, ...status } = group.status;
  return { ...group, status };
}

export const podGroupsStrategy: ResourceStrategy<v1alpha2.PodGroup> = {
  ...v1alpha2.podGroupBehaviour,
  hasStatus: true,
  prepareForCreate: (group) => prepareGroup(group),
  prepareForUpdate: (group, old) => prepareGroup(group, old),
  prepareForStatusUpdate: (group, old) => withoutClaimStatuses(keepMetadata(group, old), old),
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

/** Templates are compared by their place, as upstream does. */
function prepareWorkload(workload: v1alpha2.Workload, old?: v1alpha2.Workload): v1alpha2.Workload {
  const templates = workload.spec?.podGroupTemplates;
  if (!templates) return workload;
  const podGroupTemplates = templates.map((template, i) => {
    const { schedulingConstraints = null, ...rest } = withoutGatedFields(template, old?.spec?.podGroupTemplates?.[i]);
    return { ...rest, schedulingConstraints } as v1alpha2.PodGroupTemplate;
  });
  return { ...workload, spec: { ...workload.spec, podGroupTemplates } };
}

export const workloadsStrategy: ResourceStrategy<v1alpha2.Workload> = {
  ...v1alpha2.workloadBehaviour,
  prepareForCreate: (workload) => prepareWorkload(workload),
  prepareForUpdate: (workload, old) => prepareWorkload(workload, old),
};
