import { mapField, mapItems, mutableCopy, withField } from '../../../defaulting.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { defaultContainer, roundRequirements } from '../container/container.defaults.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import { defaultVolume } from '../volume/volume.defaults.ts';
import type { PodSecurityContext, PodSpec } from './pod-spec.ts';

const EMPTY_SPEC = {} as PodSpec;
const NO_SECURITY: PodSecurityContext = {};

/** The defaults of every pod spec, in a pod or in a template. */
export function defaultPodSpec(podSpec: PodSpec = EMPTY_SPEC): PodSpec {
  const spec = withServiceAccount(podSpec);
  const { volumes, initContainers, containers, ephemeralContainers, overhead, resources } = spec;
  const nextVolumes = volumes && mapItems(volumes, defaultVolume);
  const nextInit = initContainers && mapItems(initContainers, defaultContainer);
  const nextContainers = containers && mapItems(containers, defaultContainer);
  const nextEphemeral = ephemeralContainers && mapItems(ephemeralContainers, defaultContainer);
  const nextOverhead = overhead && roundResources(overhead);
  const nextResources = resources && roundRequirements(resources);
  const listsSame =
    nextVolumes === volumes && nextInit === initContainers && nextContainers === containers && nextEphemeral === ephemeralContainers;
  if (listsSame && nextOverhead === overhead && nextResources === resources && hasDefaults(spec)) return spec;
  const filled = mutableCopy(spec);
  if (!filled.dnsPolicy) filled.dnsPolicy = 'ClusterFirst';
  if (!filled.restartPolicy) filled.restartPolicy = 'Always';
  if (!filled.schedulerName) filled.schedulerName = 'default-scheduler';
  filled.securityContext ??= NO_SECURITY;
  filled.terminationGracePeriodSeconds ??= 30;
  if (nextVolumes) filled.volumes = nextVolumes;
  if (nextInit) filled.initContainers = nextInit;
  if (nextContainers) filled.containers = nextContainers;
  if (nextEphemeral) filled.ephemeralContainers = nextEphemeral;
  if (nextOverhead) filled.overhead = nextOverhead;
  if (nextResources) filled.resources = nextResources;
  return filled;
}

function hasDefaults({ dnsPolicy, restartPolicy, schedulerName, securityContext, terminationGracePeriodSeconds }: PodSpec): boolean {
  const hasTexts = Boolean(dnsPolicy && restartPolicy && schedulerName);
  return hasTexts && securityContext !== undefined && terminationGracePeriodSeconds !== undefined;
}

/** The deprecated field serviceAccount follows serviceAccountName. */
export function withServiceAccount(spec: PodSpec): PodSpec {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name || (spec.serviceAccountName === name && spec.serviceAccount === name)) return spec;
  const named = mutableCopy(spec);
  named.serviceAccountName = name;
  named.serviceAccount = name;
  return named;
}

export function defaultPodTemplate(template: PodTemplateSpec = {}): PodTemplateSpec {
  const cleaned = mapField(template, 'metadata', withoutInitContainerAnnotations);
  return withField(cleaned, 'spec', defaultPodSpec(cleaned.spec));
}

const INIT_CONTAINER_ANNOTATIONS = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

/** Deprecated annotations that became fields; old clients send both. */
export function withoutInitContainerAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata;
  if (!annotations || !INIT_CONTAINER_ANNOTATIONS.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const result = { ...annotations };
  for (const name of INIT_CONTAINER_ANNOTATIONS) delete result[name];
  return { ...metadata, annotations: result };
}
