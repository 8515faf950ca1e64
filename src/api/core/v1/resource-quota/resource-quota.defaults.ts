import { mapField } from '../../../defaulting.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import type { ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus } from './resource-quota.ts';

export function defaultResourceQuota(quota: ResourceQuota): ResourceQuota {
  const withSpec = mapField(quota, 'spec', (spec: ResourceQuotaSpec) => mapField(spec, 'hard', roundResources));
  return mapField(withSpec, 'status', (status: ResourceQuotaStatus) =>
    mapField(mapField(status, 'hard', roundResources), 'used', roundResources),
  );
}
