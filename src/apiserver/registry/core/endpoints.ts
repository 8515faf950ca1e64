import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const endpointsStrategy: ResourceStrategy<core.Endpoints> = {
  ...core.endpointsBehaviour,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  allowCreateOnUpdate: true,
  location: 'services/endpoints',
};
