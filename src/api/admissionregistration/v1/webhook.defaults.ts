import { fillUnset, mapField, mapItems } from '../../defaulting.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration } from './mutating-webhook-configuration.ts';
import type { RuleWithOperations } from './rule-with-operations.ts';
import type { ValidatingWebhook, ValidatingWebhookConfiguration } from './validating-webhook-configuration.ts';
import type { WebhookClientConfig } from './webhook-client-config.ts';

const WEBHOOK = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 };

export function defaultValidatingWebhookConfiguration(configuration: ValidatingWebhookConfiguration): ValidatingWebhookConfiguration {
  return mapField(configuration, 'webhooks', (webhooks) => mapItems(webhooks, defaultWebhook));
}

export function defaultMutatingWebhookConfiguration(configuration: MutatingWebhookConfiguration): MutatingWebhookConfiguration {
  return mapField(configuration, 'webhooks', (webhooks) =>
    mapItems(webhooks, (webhook) => fillUnset(defaultWebhook(webhook), { reinvocationPolicy: 'Never' })),
  );
}

function defaultWebhook<T extends ValidatingWebhook | MutatingWebhook>(webhook: T): T {
  const filled = fillUnset(webhook, WEBHOOK as Partial<T>);
  const withRules = mapField(filled, 'rules', (rules) => defaultRules(rules as readonly RuleWithOperations[]) as T['rules']);
  return mapField(withRules, 'clientConfig', (client) => defaultClient(client as WebhookClientConfig) as T['clientConfig']);
}

/** By default rules match objects of every scope. */
export function defaultRules<R extends RuleWithOperations>(rules: readonly R[]): readonly R[] {
  return mapItems(rules, (rule) => fillUnset(rule, { scope: '*' } as Partial<R>));
}

function defaultClient(client: WebhookClientConfig): WebhookClientConfig {
  return mapField(client, 'service', (service) => fillUnset(service, { port: 443 }));
}
