import type { KindBehaviour } from '../../behaviour.ts';
import { staticNameWarnings } from './static-name.ts';
import { ValidatingWebhookConfiguration } from './validating-webhook-configuration.ts';
import { defaultValidatingWebhookConfiguration } from './webhook.defaults.ts';
import { webhookTable } from './webhook.table.ts';
import { validateValidatingWebhookConfiguration, validateValidatingWebhookConfigurationUpdate } from './webhook.validation.ts';

export const validatingWebhookConfigurationBehaviour: KindBehaviour<ValidatingWebhookConfiguration> = {
  kind: ValidatingWebhookConfiguration,
  defaults: defaultValidatingWebhookConfiguration,
  validate: validateValidatingWebhookConfiguration,
  validateUpdate: validateValidatingWebhookConfigurationUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: webhookTable,
};
