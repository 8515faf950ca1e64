import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { EquivalentResources } from './equivalent-resources.ts';

/** Cluster state that matching needs. */
export interface MatchContext {
  readonly equivalents: EquivalentResources;
  namespace(name: string): Promise<KubeObject | undefined>;
}

export function matchContext(table: ResourceTable): MatchContext {
  return {
    equivalents: new EquivalentResources(table),
    namespace: async (name) => (await table.find('', 'v1', 'namespaces')?.storage?.get('', name))?.object,
  };
}
