import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, mapListOf, nullable, object, pointer, required, string, time } from '../../schema.ts';

export const QueuingConfiguration = object('io.k8s.api.flowcontrol.v1.QueuingConfiguration', '', {
  queues: always(1, int32),
  handSize: always(2, int32),
  queueLengthLimit: always(3, int32),
});
export type QueuingConfiguration = Infer<typeof QueuingConfiguration>;

export const LimitResponse = object('io.k8s.api.flowcontrol.v1.LimitResponse', '', {
  type: required(1, string),
  queuing: pointer(2, QueuingConfiguration),
});
export type LimitResponse = Infer<typeof LimitResponse>;

export const LimitedPriorityLevelConfiguration = object('io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration', '', {
  nominalConcurrencyShares: nullable(1, int32),
  limitResponse: always(2, LimitResponse),
  lendablePercent: pointer(3, int32),
  borrowingLimitPercent: pointer(4, int32),
});
export type LimitedPriorityLevelConfiguration = Infer<typeof LimitedPriorityLevelConfiguration>;

export const ExemptPriorityLevelConfiguration = object('io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration', '', {
  nominalConcurrencyShares: pointer(1, int32),
  lendablePercent: pointer(2, int32),
});
export type ExemptPriorityLevelConfiguration = Infer<typeof ExemptPriorityLevelConfiguration>;

export const PriorityLevelConfigurationSpec = object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec',
  'How a level is limited.',
  {
    type: required(1, string, 'Limited or Exempt.'),
    limited: pointer(2, LimitedPriorityLevelConfiguration, 'Settings of a limited level.'),
    exempt: pointer(3, ExemptPriorityLevelConfiguration, 'Settings of an exempt level.'),
  },
);
export type PriorityLevelConfigurationSpec = Infer<typeof PriorityLevelConfigurationSpec>;

export const PriorityLevelConfigurationCondition = object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition', '', {
  type: field(1, string, 'The type of finding.'),
  status: field(2, string, 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type PriorityLevelConfigurationCondition = Infer<typeof PriorityLevelConfigurationCondition>;

export const PriorityLevelConfigurationStatus = object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus',
  'What was found about a level.',
  {
    conditions: field(1, mapListOf(PriorityLevelConfigurationCondition, 'type'), 'What is known of its state.', { merge: 'type' }),
  },
);
export type PriorityLevelConfigurationStatus = Infer<typeof PriorityLevelConfigurationStatus>;

export const PriorityLevelConfiguration = kind(
  {
    name: 'io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration',
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1',
    kind: 'PriorityLevelConfiguration',
    resource: 'prioritylevelconfigurations',
    namespaced: false,
  },
  'How many requests of a level are served at once.',
  {
    metadata: always(1, ObjectMeta, 'Standard object metadata.'),
    spec: always(2, PriorityLevelConfigurationSpec, 'What is wanted.'),
    status: always(3, PriorityLevelConfigurationStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
