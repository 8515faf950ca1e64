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

export const MutatingWebhook = object(
  'io.k8s.api.admissionregistration.v1.MutatingWebhook',
  'A webhook that may change objects, and the requests that it is called for.',
  {
    name: required(1, string, 'The name, as a domain.'),
    clientConfig: required(2, WebhookClientConfig, 'How to reach the server.'),
    rules: field(3, listOf(RuleWithOperations), 'The requests that it is called for.'),
    failurePolicy: pointer(4, named('v1.FailurePolicyType'), 'How failed calls are handled: Fail (the default) or Ignore.'),
    matchPolicy: pointer(9, named('v1.MatchPolicyType'), 'Whether requests in other versions count: Equivalent (the default) or Exact.'),
    namespaceSelector: pointer(5, LabelSelector, 'Labels of the namespaces that count.'),
    objectSelector: pointer(11, LabelSelector, 'Labels of the objects that count.'),
    sideEffects: nullable(6, named('v1.SideEffectClass'), 'None or NoneOnDryRun.', { required: true }),
    timeoutSeconds: pointer(7, int32, 'How long to wait, up to 30. 10 by default.'),
    admissionReviewVersions: required(8, listOf(string), 'The versions of AdmissionReview that it understands, the preferred one first.'),
    reinvocationPolicy: pointer(
      10,
      named('v1.ReinvocationPolicyType'),
      'Whether it is called again after other plugins changed the object: Never (the default) or IfNeeded.',
    ),
    matchConditions: field(12, mapListOf(MatchCondition, 'name'), 'CEL expressions that must be true for the webhook to be called.', {
      merge: 'name',
    }),
  },
);
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
  'Servers that may change objects before they are written.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    webhooks: field(2, mapListOf(MutatingWebhook, 'name'), 'The webhooks and the requests that they are called for.', { merge: 'name' }),
  },
);
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;
