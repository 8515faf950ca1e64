import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultNode } from './node.defaults.ts';
import { nodeTable } from './node.table.ts';
import { Node } from './node.ts';
import { nodeWarnings, validateNode, validateNodeChange, validateNodeUpdate } from './node.validation.ts';

export const nodeBehaviour: KindBehaviour<Node> = {
  kind: Node,
  defaults: defaultNode,
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  validateStatusUpdate: validateNodeChange,
  warnings: nodeWarnings,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable ?? false) },
  table: nodeTable,
};
