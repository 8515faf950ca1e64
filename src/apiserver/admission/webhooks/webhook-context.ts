import type { Random, Tracer } from '#base';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { EgressSelector } from '../../egress/egress-selector.ts';
import type { KubeletConnector } from '../../kubelet-client/kubelet-connector.ts';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import { ServiceEndpoints } from '../../service-endpoints/service-endpoints.ts';
import { matchContext } from '../matching/match-context.ts';
import { configurationStorage } from '../policies/policy-context.ts';
import { WebhookCaller, type WebhookCallerDeps } from './webhook-caller.ts';
import { WebhookClient } from './webhook-client.ts';
import { WebhookSource } from './webhook-source.ts';

export interface WebhookDeps extends WebhookNetwork, WebhookCallerDeps {
  readonly authorizer: Authorizer;
}

/** How webhooks are reached. */
export interface WebhookNetwork {
  readonly table: ResourceTable;
  readonly random: Random;
  readonly kubelets: KubeletConnector;
  readonly egress?: EgressSelector | undefined;
  readonly tracer?: Tracer | undefined;
}

/** Of webhooks of admission and of conversion alike. */
export function webhookClient({ egress, tracer, ...deps }: WebhookNetwork): WebhookClient {
  const services = new ServiceEndpoints({ ...deps, routing: 'endpoint-or-cluster-ip' });
  return new WebhookClient(services, { dialUrl: egress?.controlplane, tracer });
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
    caller: new WebhookCaller(webhookClient(deps), deps),
    authorizer: deps.authorizer,
  };
}
