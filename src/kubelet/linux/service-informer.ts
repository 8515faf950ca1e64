import { core } from '#api';
import { type Client, type InformerDeps, SharedInformer } from '#client';
import type { ServiceSource } from '../pods/config/service-environment.ts';

export interface ServiceInformer extends ServiceSource, AsyncDisposable {}

/** Watches services for the environment variables of containers. */
export function startServiceInformer(client: Client, deps: InformerDeps, signal: AbortSignal): ServiceInformer {
  const informer = new SharedInformer(client.of(core.Service), deps);
  informer.addIndex('namespace', ({ metadata }) => [metadata.namespace ?? '']);
  informer.start(signal);
  return {
    synced: informer.synced,
    inNamespace: (namespace) => informer.lister.byIndex('namespace', namespace),
    [Symbol.asyncDispose]: () => informer.stop(),
  };
}
