import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { ValidatingWebhookConfiguration } from './validating-webhook-configuration.ts';

interface Configuration {
  readonly metadata: ValidatingWebhookConfiguration['metadata'];
  readonly webhooks?: readonly unknown[];
}

/** Configurations of both kinds are printed alike. */
export const webhookTable: TableDefinition<Configuration> = {
  columns: [NAME_COLUMN, column('Webhooks', 'The number of webhooks.', { type: 'integer' }), AGE_COLUMN],
  cells: ({ metadata, webhooks = [] }, now) => [metadata.name, webhooks.length, ageCell(metadata, now)],
};
