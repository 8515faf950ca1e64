import type { KindBehaviour } from '../../behaviour.ts';
import { defaultFlowSchema } from './flow-schema.defaults.ts';
import { flowSchemaTable } from './flow-schema.table.ts';
import { FlowSchema } from './flow-schema.ts';
import { validateFlowSchema, validateFlowSchemaStatusUpdate, validateFlowSchemaUpdate } from './flow-schema.validation.ts';

export const flowSchemaBehaviour: KindBehaviour<FlowSchema> = {
  kind: FlowSchema,
  defaults: defaultFlowSchema,
  validate: validateFlowSchema,
  validateUpdate: validateFlowSchemaUpdate,
  validateStatusUpdate: validateFlowSchemaStatusUpdate,
  table: flowSchemaTable,
};
