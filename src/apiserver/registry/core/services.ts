import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';
import { dropTypeDependentFields } from './service-type-change.ts';

const TRAFFIC_POLICIES: readonly string[] = ['Cluster', 'Local'];

/** ExternalName services have no internalTrafficPolicy. */
function dropUnusedTrafficPolicy(service: core.Service): core.Service {
  const { internalTrafficPolicy, ...spec } = service.spec ?? {};
  const isUnused = spec.type === 'ExternalName' && TRAFFIC_POLICIES.includes(internalTrafficPolicy ?? '');
  return isUnused ? { ...service, spec } : service;
}

/** Addresses and ports are claimed before the object is prepared and validated: see service-allocation.ts. */
export const servicesStrategy: ResourceStrategy<core.Service> = {
  ...core.serviceBehaviour,
  hasStatus: true,
  statusWarnings: core.serviceStatusWarnings,
  allowCreateOnUpdate: true,
  prepareForCreate: dropUnusedTrafficPolicy,
  prepareForUpdate: (service, old) => dropUnusedTrafficPolicy(dropTypeDependentFields(service, old)),
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']] },
  location: 'services/specs',
  returnsDeletedObject: true,
};
