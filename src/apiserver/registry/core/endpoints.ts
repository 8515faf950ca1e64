import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const endpointsStrategy: ResourceStrategy<core.Endpoints> = { ...core.endpointsBehaviour, allowCreateOnUpdate: true };
