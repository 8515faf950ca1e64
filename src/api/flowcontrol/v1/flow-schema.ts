import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  int32,
  kind,
  listOf,
  mapListOf,
  named,
  object,
  pointer,
  required,
  setOf,
  string,
  time,
  union,
} from '../../schema.ts';

export const PriorityLevelConfigurationReference = object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference',
  'A priority level.',
  {
    name: required(1, string, 'The name.'),
  },
);
export type PriorityLevelConfigurationReference = Infer<typeof PriorityLevelConfigurationReference>;

export const FlowDistinguisherMethod = object('io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod', 'How flows are distinguished.', {
  type: required(1, named('v1.FlowDistinguisherMethodType'), 'ByUser or ByNamespace.'),
});
export type FlowDistinguisherMethod = Infer<typeof FlowDistinguisherMethod>;

export const UserSubject = object('io.k8s.api.flowcontrol.v1.UserSubject', 'A user.', {
  name: required(1, string, 'The name.'),
});
export type UserSubject = Infer<typeof UserSubject>;

export const GroupSubject = object('io.k8s.api.flowcontrol.v1.GroupSubject', 'A group.', {
  name: required(1, string, 'The name.'),
});
export type GroupSubject = Infer<typeof GroupSubject>;

export const ServiceAccountSubject = object('io.k8s.api.flowcontrol.v1.ServiceAccountSubject', 'A service account.', {
  namespace: required(1, string, 'The namespace.'),
  name: required(2, string, 'The name.'),
});
export type ServiceAccountSubject = Infer<typeof ServiceAccountSubject>;

export const Subject = union(
  object('io.k8s.api.flowcontrol.v1.Subject', 'Who makes a request.', {
    kind: required(1, named('v1.SubjectKind'), 'The kind.'),
    user: pointer(2, UserSubject, 'A user.'),
    group: pointer(3, GroupSubject, 'A group.'),
    serviceAccount: pointer(4, ServiceAccountSubject, 'A service account.'),
  }),
  { discriminator: 'kind', fields: ['group', 'serviceAccount', 'user'] },
);
export type Subject = Infer<typeof Subject>;

export const ResourcePolicyRule = object('io.k8s.api.flowcontrol.v1.ResourcePolicyRule', 'Requests for resources.', {
  verbs: required(1, setOf(string), 'The verbs; * for all.'),
  apiGroups: required(2, setOf(string), 'The API groups; * for all.'),
  resources: required(3, setOf(string), 'The resources; * for all.'),
  clusterScope: field(4, bool, 'Whether requests outside namespaces match.'),
  namespaces: always(5, setOf(string), 'The namespaces; * for all.'),
});
export type ResourcePolicyRule = Infer<typeof ResourcePolicyRule>;

export const NonResourcePolicyRule = object('io.k8s.api.flowcontrol.v1.NonResourcePolicyRule', 'Requests for other paths.', {
  verbs: required(1, setOf(string), 'The verbs; * for all.'),
  nonResourceURLs: required(6, setOf(string), 'The paths; a trailing * matches all below.'),
});
export type NonResourcePolicyRule = Infer<typeof NonResourcePolicyRule>;

export const PolicyRulesWithSubjects = object(
  'io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects',
  'Matches requests by subject and by resource or path.',
  {
    subjects: required(1, listOf(Subject), 'Who; one must match.'),
    resourceRules: field(2, listOf(ResourcePolicyRule), 'Requests for resources.'),
    nonResourceRules: field(3, listOf(NonResourcePolicyRule), 'Requests for other paths.'),
  },
);
export type PolicyRulesWithSubjects = Infer<typeof PolicyRulesWithSubjects>;

export const FlowSchemaSpec = object('io.k8s.api.flowcontrol.v1.FlowSchemaSpec', 'Which requests go to which level.', {
  priorityLevelConfiguration: required(1, PriorityLevelConfigurationReference, 'The level.'),
  matchingPrecedence: always(2, int32, 'Precedence among schemas: lower values match first.'),
  distinguisherMethod: pointer(3, FlowDistinguisherMethod, 'How flows are distinguished: ByUser or ByNamespace.'),
  rules: field(4, listOf(PolicyRulesWithSubjects), 'Which requests; one must match.'),
});
export type FlowSchemaSpec = Infer<typeof FlowSchemaSpec>;

export const FlowSchemaCondition = object('io.k8s.api.flowcontrol.v1.FlowSchemaCondition', 'One finding about a flow schema.', {
  type: field(1, named('v1.FlowSchemaConditionType'), 'The type of finding.'),
  status: field(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type FlowSchemaCondition = Infer<typeof FlowSchemaCondition>;

export const FlowSchemaStatus = object('io.k8s.api.flowcontrol.v1.FlowSchemaStatus', 'What was found about a schema.', {
  conditions: field(1, mapListOf(FlowSchemaCondition, 'type'), 'Dangling: the priority level does not exist.', { merge: 'type' }),
});
export type FlowSchemaStatus = Infer<typeof FlowSchemaStatus>;

export const FlowSchema = kind(
  {
    name: 'io.k8s.api.flowcontrol.v1.FlowSchema',
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1',
    kind: 'FlowSchema',
    resource: 'flowschemas',
    namespaced: false,
  },
  'Assigns requests to a priority level.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, FlowSchemaSpec, 'What is wanted.'),
    status: always(3, FlowSchemaStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type FlowSchema = Infer<typeof FlowSchema>;
