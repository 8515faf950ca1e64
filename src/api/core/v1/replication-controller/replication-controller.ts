import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import {
  always,
  atomicMapOf,
  field,
  type Infer,
  int32,
  int64,
  kind,
  mapListOf,
  named,
  object,
  pointer,
  required,
  string,
  time,
} from '../../../schema.ts';
import { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';

export const ReplicationControllerSpec = object('io.k8s.api.core.v1.ReplicationControllerSpec', 'How many pods of what kind.', {
  replicas: pointer(1, int32, 'How many pods are wanted. 1 by default.', { default: 1 }),
  minReadySeconds: field(4, int32, 'How long a new pod must be ready to count as available.', { default: 0 }),
  selector: field(2, atomicMapOf(string), 'Labels of the pods that belong to it; those of the template by default.'),
  template: pointer(3, PodTemplateSpec, 'The pods to make when there are too few.'),
});
export type ReplicationControllerSpec = Infer<typeof ReplicationControllerSpec>;

export const ReplicationControllerCondition = object(
  'io.k8s.api.core.v1.ReplicationControllerCondition',
  'One finding about a replication controller.',
  {
    type: required(1, named('v1.ReplicationControllerConditionType'), 'The type of finding.'),
    status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    lastTransitionTime: always(3, time, 'When the status last changed.'),
    reason: field(4, string, 'Why, as one CamelCase word.'),
    message: field(5, string, 'Why, in words.'),
  },
);
export type ReplicationControllerCondition = Infer<typeof ReplicationControllerCondition>;

export const ReplicationControllerStatus = object('io.k8s.api.core.v1.ReplicationControllerStatus', 'How many pods there are.', {
  replicas: required(1, int32, 'How many pods there are.'),
  fullyLabeledReplicas: field(2, int32, 'How many pods have all labels of the template.'),
  readyReplicas: field(4, int32, 'How many pods are ready.'),
  availableReplicas: field(5, int32, 'How many pods have been ready for minReadySeconds.'),
  observedGeneration: field(3, int64, 'The generation that this status is about.'),
  conditions: field(6, mapListOf(ReplicationControllerCondition, 'type'), 'What is known of its state.', { merge: 'type' }),
});
export type ReplicationControllerStatus = Infer<typeof ReplicationControllerStatus>;

export const ReplicationController = kind(
  {
    name: 'io.k8s.api.core.v1.ReplicationController',
    group: '',
    version: 'v1',
    kind: 'ReplicationController',
    resource: 'replicationcontrollers',
    namespaced: true,
    shortNames: ['rc'],
    categories: ['all'],
  },
  'Keeps a number of pods running. Deployments and ReplicaSets have taken its place.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ReplicationControllerSpec, 'What is wanted.'),
    status: always(3, ReplicationControllerStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type ReplicationController = Infer<typeof ReplicationController>;
