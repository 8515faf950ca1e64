import type { Clock } from '#base';
import type { ResourceHandlers } from './handlers/handler-table.ts';
import { bindingSubresource, bindPod } from './handlers/subresources/binding.ts';
import { type ComponentChecks, componentStatuses } from './handlers/subresources/component-statuses.ts';
import { evictionSubresource } from './handlers/subresources/eviction.ts';
import { logSubresource } from './handlers/subresources/pod-logs.ts';
import type { KubeletConnector } from './kubelet-client/kubelet-connector.ts';
import { connectSubresources } from './streaming/connect-subresources.ts';
import { connectPod } from './streaming/pod-connections.ts';
import { connectProxy } from './streaming/proxy-connections.ts';

export interface BuiltInHandlerDeps {
  readonly clock: Clock;
  readonly kubelets: KubeletConnector;
  readonly components: ComponentChecks;
  /** The feature gate ExtendWebSocketsToKubelet. */
  readonly extendsWebSockets: boolean;
}

/** The handlers of built-in kinds that the generic handlers do not serve. */
export function builtInHandlers({ components, ...deps }: BuiltInHandlerDeps): ResourceHandlers {
  const { kubelets } = deps;
  const connections = connectSubresources((call) => (call.subresource === 'proxy' ? connectProxy(call, deps) : connectPod(call, deps)));
  return {
    verbs: { '/bindings': { create: bindPod }, '/componentstatuses': componentStatuses(components) },
    subresources: {
      ...connections,
      '/pods': [bindingSubresource, evictionSubresource, logSubresource(kubelets), ...connections['/pods']!],
    },
  };
}
