import type { KindBehaviour } from '../../behaviour.ts';
import { csiNodeTable } from './csi-node.table.ts';
import { CSINode } from './csi-node.ts';
import { validateCSINode, validateCSINodeUpdate } from './csi-node.validation.ts';

export const csiNodeBehaviour: KindBehaviour<CSINode> = {
  kind: CSINode,
  validate: validateCSINode,
  validateUpdate: validateCSINodeUpdate,
  table: csiNodeTable,
};
