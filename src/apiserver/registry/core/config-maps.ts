import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const configMapsStrategy: ResourceStrategy<core.ConfigMap> = core.configMapBehaviour;
