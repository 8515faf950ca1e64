import { fillZero } from '../../defaulting.ts';
import type { FlowSchema, FlowSchemaSpec } from './flow-schema.ts';

const DEFAULT_PRECEDENCE = 1000;

export function defaultFlowSchema(schema: FlowSchema): FlowSchema {
  const spec = fillZero((schema.spec ?? {}) as FlowSchemaSpec, { matchingPrecedence: DEFAULT_PRECEDENCE });
  return spec === schema.spec ? schema : { ...schema, spec };
}
