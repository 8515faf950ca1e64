import { fillUnset, fillZero, mapField, mapItems, withField } from '../../defaulting.ts';
import type { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { defaultContainer, roundRequirements } from './container.defaults.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template-spec.ts';
import { roundResources } from './resource-list.ts';
import { defaultVolume } from './volume.defaults.ts';

const TEXTS = { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' };
const POINTERS = { securityContext: {}, terminationGracePeriodSeconds: 30 };
const EMPTY_SPEC = {} as PodSpec;

/** The defaults of every pod spec, in a pod or in a template. */
export function defaultPodSpec(spec: PodSpec = EMPTY_SPEC): PodSpec {
  let result = fillUnset(fillZero(withServiceAccount(spec), TEXTS), POINTERS);
  result = mapField(result, 'volumes', (volumes) => mapItems(volumes, defaultVolume));
  result = mapField(result, 'initContainers', (containers) => mapItems(containers, defaultContainer));
  result = mapField(result, 'containers', (containers) => mapItems(containers, defaultContainer));
  result = mapField(result, 'ephemeralContainers', (containers) => mapItems(containers, defaultContainer));
  result = mapField(result, 'overhead', roundResources);
  return mapField(result, 'resources', roundRequirements);
}

/** A service account is named in two fields, of which the older one follows the newer. */
export function withServiceAccount(spec: PodSpec): PodSpec {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name || (spec.serviceAccountName === name && spec.serviceAccount === name)) return spec;
  return { ...spec, serviceAccountName: name, serviceAccount: name };
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

/** Annotations that once held what is now in fields; clients of old send both. */
export function withoutInitContainerAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata;
  if (!annotations || !INIT_CONTAINER_ANNOTATIONS.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const kept = { ...annotations };
  for (const name of INIT_CONTAINER_ANNOTATIONS) delete kept[name];
  return { ...metadata, annotations: kept };
}
