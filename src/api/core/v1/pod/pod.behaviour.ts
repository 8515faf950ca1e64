import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultPod } from './pod.defaults.ts';
import { podTable } from './pod.table.ts';
import { Pod } from './pod.ts';
import { validatePod } from './pod.validation.ts';
import { incomingPodWarnings, podWarnings } from './pod.warnings.ts';
import { validatePodStatusUpdate } from './pod-status.validation.ts';
import { validatePodUpdate } from './pod-update.validation.ts';

export const podBehaviour: KindBehaviour<Pod> = {
  kind: Pod,
  defaults: defaultPod,
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  incomingWarnings: incomingPodWarnings,
  warnings: podWarnings,
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    'spec.host': ({ spec }) => spec?.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec?.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec?.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork ?? false),
    'status.phase': ({ status }) => status?.phase ?? '',
    'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
    // Accepted, but always empty, as upstream.
    'status.podIPs': () => '',
    'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
  },
  table: podTable,
};
