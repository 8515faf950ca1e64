import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { apiServicesStrategy } from './api-services.ts';

export const API_REGISTRATION: RegistryGroup = registryGroup([apiServicesStrategy]);
