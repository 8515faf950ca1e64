import { FieldError, type JsonValue, Path, semanticEqual } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { Container } from '../container/container.ts';
import { ResourceRequirements } from '../container/resource-requirements.ts';
import type { ResourceList } from '../resource-list/resource-list.ts';
import type { Pod } from './pod.ts';
import { MIRROR_POD_ANNOTATION } from './pod-annotations.ts';
import { computePodQOS } from './pod-qos.ts';
import type { PodSpec } from './pod-spec.ts';
import { samePodSpec, startUpdate } from './pod-update.validation.ts';

const EMPTY_SPEC = {} as PodSpec;
const ONLY_RESOURCES = 'only cpu and memory resources are mutable';

/** A resize may only change cpu and memory of containers or of the pod. */
export function validatePodResize(pod: Pod, old: Pod): FieldError[] {
  const report = startUpdate(pod, old);
  const spec = pod.spec ?? EMPTY_SPEC;
  const before = old.spec ?? EMPTY_SPEC;
  const reason = whyNotResizable(old);
  if (reason) return [FieldError.forbidden(Path.of(''), reason)];
  if ((old.status?.qosClass || computePodQOS(before)) !== computePodQOS(spec)) {
    report.invalid(pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  }
  if (!isResizeSupported(old)) report.forbidden('Pod running on node without support for resize');
  const resources = hasPodResources(before) || hasPodResources(spec) ? validatePodLevel(spec, before, report) : spec.resources;
  if (old.status?.nodeAllocatableResourceClaimStatuses?.length) {
    report.forbidden('pods with node allocatable resource claims cannot be resized');
  }
  if (!validateSameContainers(spec, before, report)) return report.errors;
  validateRemovals(spec, before, report);
  const containers = validateContainers(spec, before, report);
  const initContainers = validateInitContainers(spec, before, report);
  if (!report.isClean) return report.errors;
  const rest: PodSpec = { ...spec, containers, ...(spec.initContainers && { initContainers }), ...(resources && { resources }) };
  if (!resources) delete (rest as { resources?: unknown }).resources;
  if (!samePodSpec(rest, before)) report.forbidden(ONLY_RESOURCES);
  return report.errors;
}

function whyNotResizable({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) return 'static pods cannot be resized';
  return spec?.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

// Nodes that support resizing report the resources of running containers.
function isResizeSupported({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running);
  return running === undefined || running.resources !== undefined;
}

function hasPodResources({ resources }: PodSpec): boolean {
  return Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;
}

function validatePodLevel(spec: PodSpec, old: PodSpec, at: FieldReport): ResourceRequirements | undefined {
  const field = at.child('resources');
  if (old.resources && !spec.resources) {
    field.forbidden('pod-level resources cannot be removed');
    return undefined;
  }
  if (old.resources && isRemoved(spec.resources?.requests, old.resources.requests)) {
    field.child('requests').forbidden('pod-level resource requests cannot be removed');
  }
  if (old.resources && isRemoved(spec.resources?.limits, old.resources.limits)) {
    field.child('limits').forbidden('pod-level resource limits cannot be removed');
  }
  const expected = withOldCompute(spec.resources ?? {}, old.resources ?? {});
  const isEmpty = !old.resources && !hasPodResources({ ...EMPTY_SPEC, resources: expected }) && !expected.claims?.length;
  if (!sameRequirements(isEmpty ? undefined : expected, old.resources)) {
    at.forbidden('only cpu and memory resources are mutable at pod-level');
  }
  return isEmpty ? undefined : expected;
}

function validateSameContainers(spec: PodSpec, old: PodSpec, at: FieldReport): boolean {
  const before = at.errors.length;
  for (const list of ['containers', 'initContainers'] as const) {
    const field = at.child(list);
    const oldList = old[list] ?? [];
    if ((spec[list] ?? []).length !== oldList.length) {
      field.forbidden(`${list} may not be added or removed on resize`);
      continue;
    }
    oldList.forEach(({ name }, i) => {
      if (spec[list]?.[i]?.name === name) return;
      field.index(i).child('name').forbidden(`${list} may not be renamed or reordered on resize`);
    });
  }
  return at.errors.length === before;
}

function validateRemovals(spec: PodSpec, old: PodSpec, at: FieldReport): void {
  for (const list of ['initContainers', 'containers'] as const) {
    old[list]?.forEach(({ resources }, i) => {
      const field = at.child(list).index(i).child('resources');
      const now = spec[list]?.[i]?.resources;
      if (isRemoved(now?.requests, resources?.requests)) field.child('requests').forbidden('resource requests cannot be removed');
      if (isRemoved(now?.limits, resources?.limits)) field.child('limits').forbidden('resource limits cannot be removed');
    });
  }
}

function isRemoved(list: ResourceList = {}, old: ResourceList = {}): boolean {
  return Object.keys(old).some((name) => list[name] === undefined);
}

function validateContainers(spec: PodSpec, old: PodSpec, at: FieldReport): readonly Container[] {
  return (spec.containers ?? []).map((container, i) => {
    const before = (old.containers ?? [])[i] as Container;
    const expected = withOldContainerCompute(container, before);
    if (!sameContainer(expected, before)) at.forbidden(ONLY_RESOURCES);
    return expected;
  });
}

function validateInitContainers(spec: PodSpec, old: PodSpec, at: FieldReport): readonly Container[] {
  return (spec.initContainers ?? []).map((container, i) => {
    const before = (old.initContainers ?? [])[i] as Container;
    const expected = withOldContainerCompute(container, before);
    const field = at.child('initContainers').index(i);
    if (!sameContainer(expected, before)) field.forbidden('only cpu and memory resources for init or sidecar containers are mutable');
    if (container.restartPolicy !== 'Always' && !sameContainer(container, before)) {
      for (const { restartPolicy } of container.resizePolicy ?? []) {
        if (restartPolicy !== 'RestartContainer') continue;
        field.forbidden('non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
      }
    }
    return expected;
  });
}

// Containers with claims cannot be resized.
function withOldContainerCompute(container: Container, old: Container): Container {
  const { limits, requests } = withOldCompute(container.resources ?? {}, old.resources ?? {});
  return { ...container, resources: { ...(limits && { limits }), ...(requests && { requests }) } };
}

function withOldCompute(resources: ResourceRequirements, old: ResourceRequirements): ResourceRequirements {
  const limits = withOldAmounts(resources.limits, old.limits);
  const requests = withOldAmounts(resources.requests, old.requests);
  return { ...resources, ...(limits && { limits }), ...(requests && { requests }) };
}

function withOldAmounts(list: ResourceList | undefined, old: ResourceList | undefined): ResourceList | undefined {
  if (!list && !old) return undefined;
  const { cpu: _cpu, memory: _memory, ...rest } = list ?? {};
  const { cpu, memory } = old ?? {};
  return { ...rest, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
}

function sameContainer(a: Container, b: Container): boolean {
  return semanticEqual(a as JsonValue, b as JsonValue, Container);
}

function sameRequirements(a: ResourceRequirements | undefined, b: ResourceRequirements | undefined): boolean {
  return semanticEqual(a as JsonValue | undefined, b as JsonValue | undefined, ResourceRequirements);
}
