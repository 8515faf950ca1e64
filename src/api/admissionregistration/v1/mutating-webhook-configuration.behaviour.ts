import type { KindBehaviour } from '../../behaviour.ts';
import { MutatingWebhookConfiguration } from './mutating-webhook-configuration.ts';
import { staticNameWarnings } from './static-name.ts';
import { defaultMutatingWebhookConfiguration } from './webhook.defaults.ts';
import { webhookTable } from './webhook.table.ts';
import { validateMutatingWebhookConfiguration, validateMutatingWebhookConfigurationUpdate } from './webhook.validation.ts';

export const mutatingWebhookConfigurationBehaviour: KindBehaviour<MutatingWebhookConfiguration> = {
  kind: MutatingWebhookConfiguration,
  defaults: defaultMutatingWebhookConfiguration,
  validate: validateMutatingWebhookConfiguration,
  validateUpdate: validateMutatingWebhookConfigurationUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: webhookTable,
};
