import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, object, required, string } from '../../schema.ts';

export const SelfSubjectRulesReviewSpec = object('io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec', '', {
  namespace: field(1, string),
});
export type SelfSubjectRulesReviewSpec = Infer<typeof SelfSubjectRulesReviewSpec>;

export const ResourceRule = object('io.k8s.api.authorization.v1.ResourceRule', '', {
  verbs: required(1, listOf(string)),
  apiGroups: field(2, listOf(string)),
  resources: field(3, listOf(string)),
  resourceNames: field(4, listOf(string)),
});
export type ResourceRule = Infer<typeof ResourceRule>;

export const NonResourceRule = object('io.k8s.api.authorization.v1.NonResourceRule', '', {
  verbs: required(1, listOf(string)),
  nonResourceURLs: field(2, listOf(string)),
});
export type NonResourceRule = Infer<typeof NonResourceRule>;

export const SubjectRulesReviewStatus = object('io.k8s.api.authorization.v1.SubjectRulesReviewStatus', '', {
  resourceRules: required(1, listOf(ResourceRule)),
  nonResourceRules: required(2, listOf(NonResourceRule)),
  incomplete: required(3, bool),
  evaluationError: field(4, string),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, SelfSubjectRulesReviewSpec),
    status: always(3, SubjectRulesReviewStatus),
  },
);
export type SelfSubjectRulesReview = Infer<typeof SelfSubjectRulesReview>;
