import type { KindBehaviour } from '../../../behaviour.ts';
import { componentStatusTable } from './component-status.table.ts';
import { ComponentStatus } from './component-status.ts';

export const componentStatusBehaviour: KindBehaviour<ComponentStatus> = {
  kind: ComponentStatus,
  table: componentStatusTable,
};
