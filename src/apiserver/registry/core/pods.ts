import { core } from '#api';
import { changeOnceWith, formatTime } from '#machinery';
import { withoutMetadata } from '../../watch-cache/kube-object.ts';
import type { RequestScope, ResourceStrategy, SubresourceStrategy } from '../generic/strategy.ts';
import { withAppArmorFields } from './pod-app-armor.ts';
import { withPodLabelKeys } from './pod-label-keys.ts';

type Pod = core.Pod;
type PodSpec = core.PodSpec;

const EMPTY_SPEC = {} as PodSpec;
const GATED = 'Scheduling is blocked due to non-empty scheduling gates';

function prepareForCreate(pod: Pod, { now, features }: RequestScope): Pod {
  const spec = withPodLabelKeys(servedSpec(pod.spec ?? EMPTY_SPEC, features), pod.metadata.labels ?? {});
  const status = { phase: 'Pending', qosClass: core.computePodQOS(spec), ...(spec.schedulingGates?.length && gatedCondition(now)) };
  return { ...pod, spec: withAppArmorFields(spec, pod.metadata.annotations), status };
}

const servedSpec = changeOnceWith((spec: PodSpec, features: core.PodFeatures | undefined) =>
  core.dropDisabledPodFields(core.withServiceAccount(spec), features),
);

function gatedCondition(now: number): core.PodStatus {
  const lastTransitionTime = formatTime(now);
  return {
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'SchedulingGated',
        message: GATED,
        lastProbeTime: null as unknown as string,
        lastTransitionTime,
      },
    ],
  };
}

function prepareForUpdate(pod: Pod, _old: Pod, { features }: RequestScope): Pod {
  return { ...pod, spec: servedSpec(pod.spec ?? EMPTY_SPEC, features) };
}

/** Kubelets and controllers may not know newer status fields: omitted ones stay. */
function prepareForStatusUpdate(pod: Pod, old: Pod): Pod {
  const { ownerReferences, deletionTimestamp } = old.metadata;
  const { metadata } = withoutMetadata(pod, 'ownerReferences', 'deletionTimestamp');
  const managed = { ...(ownerReferences && { ownerReferences }), ...(deletionTimestamp && { deletionTimestamp }) };
  return { ...pod, metadata: Object.assign({}, metadata, managed), status: keepUnreported(pod.status ?? {}, old.status ?? {}) };
}

function keepUnreported(status: core.PodStatus, old: core.PodStatus): core.PodStatus {
  const qosClass = status.qosClass || old.qosClass;
  const observedGeneration = status.observedGeneration || old.observedGeneration;
  return {
    ...status,
    ...(qosClass && { qosClass }),
    ...(observedGeneration && { observedGeneration }),
    ...(status.conditions && { conditions: keepGenerations(status.conditions, old.conditions ?? []) }),
  };
}

function keepGenerations(conditions: readonly core.PodCondition[], old: readonly core.PodCondition[]): readonly core.PodCondition[] {
  const before = new Map(old.map(({ type, observedGeneration }) => [type, observedGeneration] as const).reverse());
  return conditions.map((condition) => {
    if (condition.observedGeneration) return condition;
    const observedGeneration = before.get(condition.type);
    return observedGeneration ? { ...condition, observedGeneration } : condition;
  });
}

function gracePeriodSeconds({ spec, status }: Pod, requested: number | undefined): number {
  // Pods that never ran or have finished are deleted without a grace period.
  if (!spec?.nodeName || core.isTerminalPhase(status?.phase)) return 0;
  const period = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return period < 0 ? 1 : period;
}

/** The old pod with a part of the new spec, and the new managedFields. */
function withSpecPart(pod: Pod, old: Pod, part: Partial<PodSpec>): Pod {
  const { managedFields, resourceVersion } = pod.metadata;
  const spec: PodSpec = { ...(old.spec ?? EMPTY_SPEC), ...part };
  const generation = (old.metadata.generation ?? 0) + (core.samePodSpec(spec, old.spec) ? 0 : 1);
  const metadata = { ...old.metadata, generation, ...(managedFields && { managedFields }), ...(resourceVersion && { resourceVersion }) };
  return { ...old, metadata, spec };
}

const ephemeralContainers: SubresourceStrategy<Pod> = {
  verbs: ['get', 'patch', 'update'],
  prepareForUpdate: (pod, old) => {
    const { ephemeralContainers: containers } = core.dropDisabledPodFields(pod.spec ?? EMPTY_SPEC);
    return withSpecPart(pod, old, { ephemeralContainers: containers ?? [] });
  },
  validateUpdate: core.validateEphemeralContainersUpdate,
};

const resize: SubresourceStrategy<Pod> = {
  verbs: ['get', 'patch', 'update'],
  prepareForUpdate: (pod, old) => {
    const spec = pod.spec ?? EMPTY_SPEC;
    const before = old.spec ?? EMPTY_SPEC;
    const isSame = (list: 'containers' | 'initContainers') => (spec[list]?.length ?? 0) === (before[list]?.length ?? 0);
    // A changed list of containers is left to validation.
    if (!isSame('containers') || !isSame('initContainers')) return pod;
    return withSpecPart(pod, old, {
      containers: resizedContainers(spec.containers, before.containers),
      ...(spec.initContainers && { initContainers: resizedContainers(spec.initContainers, before.initContainers) }),
      ...(spec.resources && { resources: spec.resources }),
    });
  },
  validateUpdate: core.validatePodResize,
};

type Containers = readonly core.Container[] | undefined | null;

function resizedContainers(containers: Containers, old: Containers): readonly core.Container[] {
  if (!containers || containers.some(({ name }, i) => old?.[i]?.name !== name)) return containers ?? [];
  return containers.map((container, i) => {
    const { resources, resizePolicy } = container;
    const { resources: _, resizePolicy: __, ...rest } = old?.[i] ?? container;
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

export const podsStrategy: ResourceStrategy<Pod> = {
  ...core.podBehaviour,
  hasStatus: true,
  statusWarnings: core.podStatusWarnings,
  tracksGeneration: true,
  specsRecur: true,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  gracePeriodSeconds,
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: {
    '': [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  },
  subresources: { ephemeralcontainers: ephemeralContainers, resize },
  returnsDeletedObject: true,
};
