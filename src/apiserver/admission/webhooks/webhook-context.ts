import type { Random } from '#base';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { EgressSelector } from '../../egress/egress-selector.ts';
import type { KubeletConnector } from '../../kubelet-client/kubelet-connector.ts';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import { ServiceEndpoints } from '../../service-endpoints/service-endpoints.ts';
import { matchContext } from '../matching/match-context.ts';
import { configurationStorage } from '../policies/policy-context.ts';
import { WebhookCaller } from './webhook-caller.ts';
import { WebhookClient } from './webhook-client.ts';
import { WebhookSource } from './webhook-source.ts';

export interface WebhookDeps extends WebhookNetwork {
  readonly authorizer: Authorizer;
}

/** How webhooks are reached. */
export interface WebhookNetwork {
  readonly table: ResourceTable;
  readonly random: Random;
  readonly kubelets: KubeletConnector;
  readonly egress?: EgressSelector | undefined;
}

/** Of webhooks of admission and of conversion alike. */
export function webhookClient({ egress, ...deps }: WebhookNetwork): WebhookClient {
  return new WebhookClient(new ServiceEndpoints({ ...deps, routing: 'endpoint-or-cluster-ip' }), egress?.controlplane);
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
    caller: new WebhookCaller(webhookClient(deps), deps.random),
    authorizer: deps.authorizer,
  };
}
