import { fillUnset, mapField, withField } from '../../../defaulting.ts';
import { defaultPodTemplate } from '../pod/pod-spec.defaults.ts';
import type { ReplicationController } from './replication-controller.ts';

export function defaultReplicationController(controller: ReplicationController): ReplicationController {
  const spec = fillUnset(controller.spec ?? {}, { replicas: 1 });
  return withTemplateLabels(withField(controller, 'spec', mapField(spec, 'template', defaultPodTemplate)));
}

/** Selector and labels default to the labels of the template. */
function withTemplateLabels(controller: ReplicationController): ReplicationController {
  const labels = controller.spec?.template?.metadata?.labels;
  if (!labels) return controller;
  let result = controller;
  if (isEmpty(controller.spec?.selector)) result = { ...result, spec: { ...result.spec, selector: labels } };
  if (isEmpty(controller.metadata?.labels)) result = { ...result, metadata: { ...result.metadata, labels } };
  return result;
}

function isEmpty(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels === undefined || Object.keys(labels).length === 0;
}
