import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { bindingsStrategy } from './bindings.ts';
import { componentStatusesStrategy } from './component-statuses.ts';
import { configMapsStrategy } from './config-maps.ts';
import { endpointsStrategy } from './endpoints.ts';
import { eventsStrategy } from './events.ts';
import { limitRangesStrategy } from './limit-ranges.ts';
import { namespacesStrategy } from './namespaces.ts';
import { nodesStrategy } from './nodes.ts';
import { persistentVolumeClaimsStrategy } from './persistent-volume-claims.ts';
import { persistentVolumesStrategy } from './persistent-volumes.ts';
import { podTemplatesStrategy } from './pod-templates.ts';
import { podsStrategy } from './pods.ts';
import { replicationControllersStrategy } from './replication-controllers.ts';
import { resourceQuotasStrategy } from './resource-quotas.ts';
import { secretsStrategy } from './secrets.ts';
import { serviceAccountsStrategy } from './service-accounts.ts';
import { servicesStrategy } from './services.ts';

export const CORE: RegistryGroup = registryGroup([
  bindingsStrategy,
  componentStatusesStrategy,
  configMapsStrategy,
  endpointsStrategy,
  eventsStrategy,
  limitRangesStrategy,
  namespacesStrategy,
  nodesStrategy,
  persistentVolumeClaimsStrategy,
  persistentVolumesStrategy,
  podTemplatesStrategy,
  podsStrategy,
  replicationControllersStrategy,
  resourceQuotasStrategy,
  secretsStrategy,
  serviceAccountsStrategy,
  servicesStrategy,
]);
