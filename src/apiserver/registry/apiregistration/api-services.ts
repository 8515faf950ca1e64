import { apiregistration } from '#api';
import { formatTime } from '#machinery';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Local APIServices are always available. */
function localCondition(now: number): apiregistration.APIServiceCondition {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: formatTime(now),
    reason: 'Local',
    message: 'Local APIServices are always available',
  };
}

export const apiServicesStrategy: ResourceStrategy<apiregistration.APIService> = {
  ...apiregistration.apiServiceBehaviour,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: (service, { now }) => ({ ...service, status: service.spec?.service ? {} : { conditions: [localCondition(now)] } }),
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  location: 'apiregistration.k8s.io/apiservices',
  storedAsJson: true,
};
