import { changeOnce } from '#machinery';
import { fillUnset, mapField, mapItems, withField } from '../../../defaulting.ts';
import { requestLimits } from '../container/container.defaults.ts';
import type { Container, ContainerPort } from '../container/container.ts';
import { aggregateContainerResources } from '../resource-list/pod-resources.ts';
import { fillResources, type ResourceList } from '../resource-list/resource-list.ts';
import { isHugePages, isOvercommitAllowed, isPodLevelResource } from '../resource-list/resource-name.ts';
import type { Pod, PodStatus } from './pod.ts';
import { defaultPodSpec, withoutInitContainerAnnotations } from './pod-spec.defaults.ts';
import type { PodSpec } from './pod-spec.ts';

export function defaultPod(pod: Pod): Pod {
  const spec = defaultSpec(pod.spec ?? ({} as PodSpec));
  const cleaned = mapField(withField(pod, 'spec', spec), 'metadata', (meta) => withoutInitContainerAnnotations(meta) as Pod['metadata']);
  return mapField(cleaned, 'status', withPodIps);
}

const defaultSpec = changeOnce((spec: PodSpec) => defaultPodSpec(defaultOwnSpec(spec)));

// Defaults of pods that do not apply to templates.
function defaultOwnSpec(spec: PodSpec): PodSpec {
  let result = mapField(spec, 'containers', (containers) => mapItems(containers, requestLimits));
  result = mapField(result, 'initContainers', (containers) => mapItems(containers, requestLimits));
  result = fillUnset(defaultPodResources(result), { enableServiceLinks: true });
  // Upstream converts a pod's negative grace period, but not a template's.
  if ((result.terminationGracePeriodSeconds ?? 0) < 0) result = { ...result, terminationGracePeriodSeconds: 1 };
  if (!result.hostNetwork) return result;
  result = mapField(result, 'containers', (containers) => mapItems(containers, exposeOnHost));
  return mapField(result, 'initContainers', (containers) => mapItems(containers, exposeOnHost));
}

function exposeOnHost(container: Container): Container {
  return mapField(container, 'ports', (ports) => mapItems(ports, samePortOnHost));
}

function samePortOnHost(port: ContainerPort): ContainerPort {
  return port.hostPort || !port.containerPort ? port : { ...port, hostPort: port.containerPort };
}

function defaultPodResources(spec: PodSpec): PodSpec {
  if (!spec.resources) return spec;
  return defaultPodRequests(defaultHugePageLimits(spec));
}

function defaultHugePageLimits(spec: PodSpec): PodSpec {
  const { limits = {}, requests = {} } = spec.resources ?? {};
  if (isEmpty(limits) && isEmpty(requests)) return spec;
  const hugePages = [...aggregateContainerResources(spec, 'limits')].filter(
    ([name]) => isHugePages(name) && !Object.hasOwn(requests, name),
  );
  const filled = fillResources(limits, Object.fromEntries(hugePages.map(([name, quantity]) => [name, quantity.toString()])));
  return filled && !isEmpty(filled) ? withField(spec, 'resources', { ...spec.resources, limits: filled }) : spec;
}

function defaultPodRequests(spec: PodSpec): PodSpec {
  const { limits = {}, requests } = spec.resources ?? {};
  if (isEmpty(limits)) return spec;
  const fromContainers = [...aggregateContainerResources(spec, 'requests')].filter(
    ([name]) => isPodLevelResource(name) && isOvercommitAllowed(name),
  );
  const fromLimits = Object.entries(limits).filter(([name]) => isPodLevelResource(name));
  const defaults = Object.fromEntries([...fromLimits, ...fromContainers].map(([name, quantity]) => [name, quantity.toString()]));
  const filled = fillResources(requests, defaults);
  return filled && !isEmpty(filled) ? withField(spec, 'resources', { ...spec.resources, requests: filled }) : spec;
}

function isEmpty(list: ResourceList): boolean {
  return Object.keys(list).length === 0;
}

/** podIPs follows podIP. */
function withPodIps(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status;
  const first = podIPs?.[0]?.ip;
  if (podIP) return first === podIP ? status : { ...status, podIPs: [{ ip: podIP }] };
  return first ? { ...status, podIP: first } : status;
}
