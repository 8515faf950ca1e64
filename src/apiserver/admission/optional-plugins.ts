import type { Client } from '#client';
import type { Authorizer } from '../authz/authorizer.ts';
import type { AdmissionPlugin } from './admission.ts';
import type { OptionalPluginName } from './plugin-order.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always-deny.ts';
import { alwaysPullImages } from './plugins/always-pull-images.ts';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.ts';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts';
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
}

/** Makes the plugins that are off by default. */
export function optionalPlugins(names: readonly OptionalPluginName[], deps: OptionalPluginDeps): readonly AdmissionPlugin[] {
  return [...new Set(names)].map((name) => FACTORIES[name](deps));
}

const FACTORIES: Readonly<Record<OptionalPluginName, (deps: OptionalPluginDeps) => AdmissionPlugin>> = {
  AlwaysAdmit: () => alwaysAdmit,
  NamespaceAutoProvision: namespaceAutoProvision,
  NamespaceExists: namespaceExists,
  LimitPodHardAntiAffinityTopology: () => limitPodHardAntiAffinityTopology,
  AlwaysPullImages: () => alwaysPullImages,
  PodNodeSelector: (deps) => podNodeSelector(deps),
  PodTolerationRestriction: (deps) => podTolerationRestriction(deps),
  ExtendedResourceToleration: () => extendedResourceToleration,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  DenyServiceExternalIPs: () => denyServiceExternalIps,
  AlwaysDeny: () => alwaysDeny,
};
