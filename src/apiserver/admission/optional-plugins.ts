import type { Clock, Logger } from '#base';
import type { Client } from '#client';
import type { Authorizer } from '../authz/authorizer.ts';
import type { EgressSelector } from '../egress/egress-selector.ts';
import { KubeconfigWebhook } from '../webhook-client/kubeconfig-webhook.ts';
import type { AdmissionPlugin } from './admission.ts';
import type { PluginConfigurations } from './configuration/admission-configuration.ts';
import type { OptionalPluginName } from './plugin-order.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always-deny.ts';
import { alwaysPullImages } from './plugins/always-pull-images.ts';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.ts';
import { eventRateLimit } from './plugins/event-rate-limit.ts';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts';
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts';
import { namespaceAutoProvision, namespaceExists } from './plugins/namespace-exists.ts';
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts';
import type { PluginDeps } from './plugins/plugin-deps.ts';
import { podNodeSelector } from './plugins/pod-node-selector.ts';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts';

export interface OptionalPluginDeps extends PluginDeps {
  readonly authorizer: Authorizer;
  /** The server's own client; used once the server is ready. */
  readonly client: () => Client;
  readonly logger: Logger;
  /** Of services outside of the cluster's (possibly virtual) time. */
  readonly peerClock: Clock;
  readonly egress?: EgressSelector | undefined;
}

/** The plugins that are off by default. */
export class OptionalPlugins implements AsyncDisposable {
  readonly plugins: readonly AdmissionPlugin[];
  readonly #webhooks: KubeconfigWebhook[] = [];

  /** Throws when a plugin lacks a configuration that it needs. */
  constructor(names: readonly OptionalPluginName[], configurations: PluginConfigurations, deps: OptionalPluginDeps) {
    const factories = this.#factories(configurations, deps);
    this.plugins = [...new Set(names)].map((name) => factories[name]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#webhooks.map((webhook) => webhook[Symbol.asyncDispose]()));
  }

  #factories(configurations: PluginConfigurations, deps: OptionalPluginDeps): Readonly<Record<OptionalPluginName, () => AdmissionPlugin>> {
    return {
      AlwaysAdmit: () => alwaysAdmit,
      NamespaceAutoProvision: () => namespaceAutoProvision(deps),
      NamespaceExists: () => namespaceExists(deps),
      LimitPodHardAntiAffinityTopology: () => limitPodHardAntiAffinityTopology,
      AlwaysPullImages: () => alwaysPullImages,
      ImagePolicyWebhook: () => this.#imagePolicy(configurations, deps),
      PodNodeSelector: () => podNodeSelector(deps, configurations.PodNodeSelector),
      PodTolerationRestriction: () => podTolerationRestriction(deps, configurations.PodTolerationRestriction),
      EventRateLimit: () => eventRateLimit(configurations.EventRateLimit ?? missing('EventRateLimit'), deps),
      ExtendedResourceToleration: () => extendedResourceToleration,
      OwnerReferencesPermissionEnforcement: () => ownerReferencesPermissionEnforcement(deps),
      DenyServiceExternalIPs: () => denyServiceExternalIps,
      AlwaysDeny: () => alwaysDeny,
    };
  }

  #imagePolicy({ ImagePolicyWebhook: policy = missing('ImagePolicyWebhook') }: PluginConfigurations, deps: OptionalPluginDeps) {
    const { logger, peerClock: clock, random } = deps;
    const webhook = new KubeconfigWebhook(policy.kubeconfig, { clock, logger, dial: deps.egress?.controlplane });
    this.#webhooks.push(webhook);
    return imagePolicyWebhook(policy, { webhook, clock, random });
  }
}

function missing(name: OptionalPluginName): never {
  throw new Error(`the admission plugin ${name} needs a configuration: see --admission-control-config-file`);
}
