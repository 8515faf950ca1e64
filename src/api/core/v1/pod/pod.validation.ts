import { checkDns1123Label, type FieldError, nameIsDnsSubdomain, oncePerValue, Path, recurs } from '#machinery';
import { FieldReport } from '../../../field-report.ts';
import { validateObjectMeta } from '../../../meta/v1/object-meta.validation.ts';
import { validateImageText } from '../container/container.validation.ts';
import type { Pod } from './pod.ts';
import { validatePodAnnotations, validateProfilesMatch } from './pod-annotations.validation.ts';
import type { PodSpec } from './pod-spec.ts';
import { validatePodSpec } from './pod-spec.validation.ts';

export const SPEC = Path.of('spec');
const ANNOTATIONS = Path.of('metadata', 'annotations');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as PodSpec;

export function validatePod(pod: Pod): FieldError[] {
  const report = FieldReport.on(SPEC);
  const spec = pod.spec ?? EMPTY_SPEC;
  validateMetadataAndSpec(pod, report);
  if (spec.ephemeralContainers?.length) report.child('ephemeralContainers').forbidden('cannot be set on create');
  if (spec.nodeName && spec.schedulingGates?.length) {
    report.child('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
  }
  validateProfilesMatch(pod.metadata?.annotations, report, spec);
  return report.errors;
}

/** Rules for every write of a pod. */
export function validateMetadataAndSpec({ metadata, spec = EMPTY_SPEC }: Pod, at: FieldReport): void {
  at.add(validateObjectMeta(metadata, META_RULES));
  if (metadata?.annotations) validatePodAnnotations(metadata.annotations, FieldReport.on(ANNOTATIONS, at.errors), spec);
  if (recurs(spec) && isValidInEveryPod(spec)) return;
  validatePodSpec(spec, at, { isPod: true, podMeta: metadata });
  validateOwnSpec(spec, at);
}

/** Whether a spec is valid regardless of the pod's metadata, which only matters for objects named after the pod. */
const isValidInEveryPod = oncePerValue((spec: PodSpec) => {
  if (spec.resourceClaims || spec.volumes?.some(({ ephemeral }) => ephemeral)) return false;
  const report = FieldReport.on(SPEC);
  validatePodSpec(spec, report, { isPod: true });
  validateOwnSpec(spec, report);
  return report.errors.length === 0;
});

/** Rules for pods that do not apply to templates. */
function validateOwnSpec(spec: PodSpec, at: FieldReport): void {
  if (!spec.serviceAccountName) validateNoTokens(spec, at);
  spec.containers?.forEach(({ image }, i) => {
    validateImageText(image, at.child('containers').index(i));
  });
  spec.initContainers?.forEach(({ image }, i) => {
    validateImageText(image, at.child('initContainers').index(i));
  });
}

function validateNoTokens({ volumes = [] }: PodSpec, at: FieldReport): void {
  volumes.forEach(({ projected }, i) => {
    projected?.sources?.forEach((source, j) => {
      if (!source.serviceAccountToken) return;
      const field = at.child('volumes').index(i).child('projected').child('sources').index(j).child('serviceAccountToken');
      field.forbidden('must not be specified when serviceAccountName is not set');
    });
  });
}

/** A name that is not a DNS label is valid, but a poor hostname. */
export function podNameWarnings(name: string | undefined): readonly string[] {
  const problems = checkDns1123Label(name ?? '');
  if (problems.length === 0) return [];
  const advice = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${advice}: [${problems.join(' ')}]`];
}
