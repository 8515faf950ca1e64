import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, listOf, mapListOf, nullable, object, pointer, required, string } from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { RuleWithOperations } from './rule-with-operations.ts';
import { WebhookClientConfig } from './webhook-client-config.ts';

export const ValidatingWebhook = object('io.k8s.api.admissionregistration.v1.ValidatingWebhook', '', {
  name: required(1, string),
  clientConfig: required(2, WebhookClientConfig),
  rules: field(3, listOf(RuleWithOperations)),
  failurePolicy: pointer(4, string),
  matchPolicy: pointer(9, string),
  namespaceSelector: pointer(5, LabelSelector),
  objectSelector: pointer(10, LabelSelector),
  sideEffects: nullable(6, string, '', { required: true }),
  timeoutSeconds: pointer(7, int32),
  admissionReviewVersions: required(8, listOf(string)),
  matchConditions: field(11, mapListOf(MatchCondition, 'name'), '', { merge: 'name' }),
});
export type ValidatingWebhook = Infer<typeof ValidatingWebhook>;

export const ValidatingWebhookConfiguration = kind(
  {
    name: 'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    resource: 'validatingwebhookconfigurations',
    namespaced: false,
    categories: ['api-extensions'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    webhooks: field(2, mapListOf(ValidatingWebhook, 'name'), '', { merge: 'name' }),
  },
);
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;
