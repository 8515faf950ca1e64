import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, listOf, mapListOf, nullable, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { RuleWithOperations } from './rule-with-operations.ts';
import { WebhookClientConfig } from './webhook-client-config.ts';

export const MutatingWebhook = object('io.k8s.api.admissionregistration.v1.MutatingWebhook', '', {
  name: required(1, string),
  clientConfig: required(2, WebhookClientConfig),
  rules: field(3, listOf(RuleWithOperations)),
  failurePolicy: pointer(4, string),
  matchPolicy: pointer(9, string),
  namespaceSelector: pointer(5, LabelSelector),
  objectSelector: pointer(11, LabelSelector),
  sideEffects: nullable(6, string, '', { required: true }),
  timeoutSeconds: pointer(7, int32),
  admissionReviewVersions: required(8, listOf(string)),
  reinvocationPolicy: pointer(10, string),
  matchConditions: field(12, mapListOf(MatchCondition, 'name'), '', { merge: 'name' }),
});
export type MutatingWebhook = Infer<typeof MutatingWebhook>;

export const MutatingWebhookConfiguration = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'MutatingWebhookConfiguration',
    resource: 'mutatingwebhookconfigurations',
    namespaced: false,
    categories: ['api-extensions'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    webhooks: field(2, mapListOf(MutatingWebhook, 'name'), '', { merge: 'name' }),
  },
);
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;
