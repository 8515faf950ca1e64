import { withField } from '../../../defaulting.ts';
import { defaultPodTemplate } from '../pod/pod-spec.defaults.ts';
import type { PodTemplate } from './pod-template.ts';

export function defaultPodTemplateObject(object: PodTemplate): PodTemplate {
  return withField(object, 'template', defaultPodTemplate(object.template));
}
