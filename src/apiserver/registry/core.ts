import { componentStatusesStrategy } from './core/component-statuses.ts';
import { configMapsStrategy } from './core/config-maps.ts';
import { endpointsStrategy } from './core/endpoints.ts';
import { eventsStrategy, newEventsStrategy } from './core/events.ts';
import { limitRangesStrategy } from './core/limit-ranges.ts';
import { namespacesStrategy } from './core/namespaces.ts';
import { nodesStrategy } from './core/nodes.ts';
import { persistentVolumeClaimsStrategy } from './core/persistent-volume-claims.ts';
import { persistentVolumesStrategy } from './core/persistent-volumes.ts';
import { resourceQuotasStrategy } from './core/resource-quotas.ts';
import { secretsStrategy } from './core/secrets.ts';
import { serviceAccountsStrategy } from './core/service-accounts.ts';
import { servicesStrategy } from './core/services.ts';

/** The core group but for pods and what makes them, and events in both groups. */
export const CORE_STRATEGIES = [
  componentStatusesStrategy,
  configMapsStrategy,
  endpointsStrategy,
  eventsStrategy,
  limitRangesStrategy,
  namespacesStrategy,
  nodesStrategy,
  persistentVolumeClaimsStrategy,
  persistentVolumesStrategy,
  resourceQuotasStrategy,
  secretsStrategy,
  serviceAccountsStrategy,
  servicesStrategy,
  newEventsStrategy,
] as const;
