import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, object, required, string } from '../../schema.ts';

export const SelfSubjectRulesReviewSpec = object('io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec', 'Where to look.', {
  namespace: field(1, string, 'The namespace.'),
});
export type SelfSubjectRulesReviewSpec = Infer<typeof SelfSubjectRulesReviewSpec>;

export const ResourceRule = object('io.k8s.api.authorization.v1.ResourceRule', 'What may be done with resources.', {
  verbs: required(1, listOf(string), 'What may be done; * for all.'),
  apiGroups: field(2, listOf(string), 'The API groups; * for all.'),
  resources: field(3, listOf(string), 'The resources; * for all.'),
  resourceNames: field(4, listOf(string), 'The objects; all when empty.'),
});
export type ResourceRule = Infer<typeof ResourceRule>;

export const NonResourceRule = object('io.k8s.api.authorization.v1.NonResourceRule', 'What may be done with other paths.', {
  verbs: required(1, listOf(string), 'What may be done; * for all.'),
  nonResourceURLs: field(2, listOf(string), 'The paths; * for all.'),
});
export type NonResourceRule = Infer<typeof NonResourceRule>;

export const SubjectRulesReviewStatus = object('io.k8s.api.authorization.v1.SubjectRulesReviewStatus', 'What may be done.', {
  resourceRules: required(1, listOf(ResourceRule), 'What may be done with resources.'),
  nonResourceRules: required(2, listOf(NonResourceRule), 'What may be done with other paths.'),
  incomplete: required(3, bool, 'Whether there may be more that could not be listed.'),
  evaluationError: field(4, string, 'What went wrong while finding out.'),
});
export type SubjectRulesReviewStatus = Infer<typeof SubjectRulesReviewStatus>;

export const SelfSubjectRulesReview = kind(
  {
    name: 'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectRulesReview',
    resource: 'selfsubjectrulesreviews',
    namespaced: false,
  },
  'Asks what the caller may do in a namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, SelfSubjectRulesReviewSpec, 'Where.'),
    status: always(3, SubjectRulesReviewStatus, 'What the caller may do.'),
  },
);
export type SelfSubjectRulesReview = Infer<typeof SelfSubjectRulesReview>;
