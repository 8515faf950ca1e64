import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  kind,
  listOf,
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
} from '../../schema.ts';
import { MatchCondition } from './match-condition.ts';
import { RuleWithOperations } from './rule-with-operations.ts';
import { WebhookClientConfig } from './webhook-client-config.ts';

export const ValidatingWebhook = object(
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook',
  'A webhook and the requests for which it is called.',
  {
    name: required(1, string, 'The name, as a domain.'),
    clientConfig: required(2, WebhookClientConfig, 'How to reach the server.'),
    rules: field(3, listOf(RuleWithOperations), 'The requests that it is called for.'),
    failurePolicy: pointer(4, named('v1.FailurePolicyType'), 'How failed calls are handled: Fail (the default) or Ignore.'),
    matchPolicy: pointer(9, named('v1.MatchPolicyType'), 'Whether requests in other versions count: Equivalent (the default) or Exact.'),
    namespaceSelector: pointer(5, LabelSelector, 'Labels of the namespaces that count.'),
    objectSelector: pointer(10, LabelSelector, 'Labels of the objects that count.'),
    sideEffects: nullable(6, named('v1.SideEffectClass'), 'None or NoneOnDryRun.', { required: true }),
    timeoutSeconds: pointer(7, int32, 'How long to wait, up to 30. 10 by default.'),
    admissionReviewVersions: required(8, listOf(string), 'The versions of AdmissionReview that it understands, the preferred one first.'),
    matchConditions: field(11, mapListOf(MatchCondition, 'name'), 'CEL expressions that must be true for the webhook to be called.', {
      merge: 'name',
    }),
  },
);
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
  'Webhooks that accept or reject writes of objects.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    webhooks: field(2, mapListOf(ValidatingWebhook, 'name'), 'The webhooks and the requests that they are called for.', { merge: 'name' }),
  },
);
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;
