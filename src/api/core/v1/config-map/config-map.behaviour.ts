import type { KindBehaviour } from '../../../behaviour.ts';
import { configMapTable } from './config-map.table.ts';
import { ConfigMap } from './config-map.ts';
import { validateConfigMap, validateConfigMapUpdate } from './config-map.validation.ts';

export const configMapBehaviour: KindBehaviour<ConfigMap> = {
  kind: ConfigMap,
  validate: validateConfigMap,
  validateUpdate: validateConfigMapUpdate,
  table: configMapTable,
};
