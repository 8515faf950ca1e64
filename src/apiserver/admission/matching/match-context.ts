import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceTable } from '../../registry/resource-table.ts';
import { EquivalentResources } from './equivalent-resources.ts';

/** What matching a request has to know beyond the request. */
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
