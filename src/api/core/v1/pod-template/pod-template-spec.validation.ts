import type { FieldReport } from '../../../field-report.ts';
import { validateLabels } from '../../../meta/v1/label.validation.ts';
import { validateAnnotations } from '../../../meta/v1/object-meta.validation.ts';
import { validatePodAnnotations, validateProfilesMatch } from '../pod/pod-annotations.validation.ts';
import type { PodSpec } from '../pod/pod-spec.ts';
import { validatePodSpec } from '../pod/pod-spec.validation.ts';
import type { PodTemplateSpec } from './pod-template-spec.ts';

export function validatePodTemplateSpec({ metadata = {}, spec = {} as PodSpec }: PodTemplateSpec, at: FieldReport): void {
  const { labels, annotations } = metadata;
  // Not under metadata: that is where upstream reports them.
  if (labels) at.add(validateLabels(labels, at.child('labels').path));
  if (annotations) at.add(validateAnnotations(annotations, at.child('annotations').path));
  validatePodAnnotations(annotations, at.child('annotations'), spec);
  validatePodSpec(spec, at.child('spec'));
  validateProfilesMatch(annotations, at.child('spec'), spec);
  if (spec.ephemeralContainers?.length) {
    at.child('spec').child('ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
  }
}
