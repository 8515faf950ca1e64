import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const configMapsStrategy: ResourceStrategy<core.ConfigMap> = core.configMapBehaviour;
