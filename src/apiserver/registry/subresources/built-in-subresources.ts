import type { KubeletConnector } from '../../streaming/kubelet-connector.ts';
import type { CatalogOptions } from '../catalog.ts';
import { bindingSubresource, bindPod } from './binding.ts';
import { BUILT_IN_SCALES } from './built-in-scales.ts';
import { type ComponentChecks, componentStatuses } from './component-statuses.ts';
import { connectSubresources, refuseConnection } from './connections.ts';
import { evictionSubresource } from './eviction.ts';
import { logSubresource } from './pod-logs.ts';

export interface SubresourceDeps {
  readonly kubelets: KubeletConnector;
  readonly components: ComponentChecks;
}

/** Every subresource of built-in kinds with a handler of its own, by `group/resource`. */
export function builtInSubresources({ kubelets }: SubresourceDeps): CatalogOptions['subresources'] {
  const connections = connectSubresources(refuseConnection);
  return {
    ...BUILT_IN_SCALES,
    ...connections,
    '/pods': [bindingSubresource, evictionSubresource, logSubresource(kubelets), ...connections['/pods']!],
  };
}

/** Resources that are answered without being kept. */
export function builtInHandlers({ components }: SubresourceDeps): CatalogOptions['extras'] {
  return {
    '/bindings': { handlers: { create: (_, call) => bindPod(call) } },
    '/componentstatuses': { handlers: componentStatuses(components) },
  };
}
