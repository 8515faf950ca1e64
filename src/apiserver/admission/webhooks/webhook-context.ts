import type { Random } from '#base';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import { matchContext } from '../matching/match-context.ts';
import { configurationStorage } from '../policies/policy-context.ts';
import { ServiceAddresses } from './service-addresses.ts';
import { WebhookCaller } from './webhook-caller.ts';
import { WebhookClient } from './webhook-client.ts';
import { WebhookSource } from './webhook-source.ts';

export interface WebhookDeps {
  readonly table: ResourceTable;
  readonly authorizer: Authorizer;
  readonly random: Random;
}

/** Dependencies of mutating and of validating webhooks. */
export interface WebhookContext {
  readonly source: WebhookSource;
  readonly caller: WebhookCaller;
  readonly authorizer: Authorizer;
}

export function webhookContext(deps: WebhookDeps, configurations: string): WebhookContext {
  return {
    source: new WebhookSource(() => configurationStorage(deps, configurations), matchContext(deps.table)),
    caller: new WebhookCaller(new WebhookClient(new ServiceAddresses(deps)), deps.random),
    authorizer: deps.authorizer,
  };
}
