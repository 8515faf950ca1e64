import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  kind,
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
  union,
} from '../../schema.ts';

export const QueuingConfiguration = object('io.k8s.api.flowcontrol.v1.QueuingConfiguration', 'Settings of queues.', {
  queues: always(1, int32, 'How many queues there are. 64 by default.'),
  handSize: always(2, int32, 'How many queues a flow may use. 8 by default.'),
  queueLengthLimit: always(3, int32, 'How many requests a queue holds. 50 by default.'),
});
export type QueuingConfiguration = Infer<typeof QueuingConfiguration>;

export const LimitResponse = union(
  object('io.k8s.api.flowcontrol.v1.LimitResponse', 'What happens to requests beyond the share.', {
    type: required(1, named('v1.LimitResponseType'), 'Queue or Reject.'),
    queuing: pointer(2, QueuingConfiguration, 'Settings of the queues.'),
  }),
  { discriminator: 'type', fields: ['queuing'] },
);
export type LimitResponse = Infer<typeof LimitResponse>;

export const LimitedPriorityLevelConfiguration = object(
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration',
  'How a level is limited.',
  {
    nominalConcurrencyShares: nullable(1, int32, 'Its share of what the server can do at once. 30 by default.'),
    limitResponse: always(2, LimitResponse, 'What happens to requests beyond the share.'),
    lendablePercent: pointer(3, int32, 'How much of its share other levels may borrow.'),
    borrowingLimitPercent: pointer(4, int32, 'How much it may borrow, as a percentage of its share.'),
  },
);
export type LimitedPriorityLevelConfiguration = Infer<typeof LimitedPriorityLevelConfiguration>;

export const ExemptPriorityLevelConfiguration = object(
  'io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration',
  'Settings of an exempt level.',
  {
    nominalConcurrencyShares: pointer(1, int32, 'Its share of the total concurrency.'),
    lendablePercent: pointer(2, int32, 'How much of its share other levels may borrow.'),
  },
);
export type ExemptPriorityLevelConfiguration = Infer<typeof ExemptPriorityLevelConfiguration>;

export const PriorityLevelConfigurationSpec = union(
  object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec', 'How a level is limited.', {
    type: required(1, named('v1.PriorityLevelEnablement'), 'Limited or Exempt.'),
    limited: pointer(2, LimitedPriorityLevelConfiguration, 'Settings of a limited level.'),
    exempt: pointer(3, ExemptPriorityLevelConfiguration, 'Settings of an exempt level.'),
  }),
  { discriminator: 'type', fields: ['exempt', 'limited'] },
);
export type PriorityLevelConfigurationSpec = Infer<typeof PriorityLevelConfigurationSpec>;

export const PriorityLevelConfigurationCondition = object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition',
  'One finding about a priority level.',
  {
    type: field(1, named('v1.PriorityLevelConfigurationConditionType'), 'The type of finding.'),
    status: field(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    lastTransitionTime: always(3, time, 'When the status last changed.'),
    reason: field(4, string, 'Why, as one CamelCase word.'),
    message: field(5, string, 'Why, in words.'),
  },
);
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
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, PriorityLevelConfigurationSpec, 'What is wanted.'),
    status: always(3, PriorityLevelConfigurationStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
