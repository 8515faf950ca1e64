import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultNamespace } from './namespace.defaults.ts';
import { namespaceTable } from './namespace.table.ts';
import { Namespace } from './namespace.ts';
import { validateNamespace, validateNamespaceStatusUpdate, validateNamespaceUpdate } from './namespace.validation.ts';

export const namespaceBehaviour: KindBehaviour<Namespace> = {
  kind: Namespace,
  defaults: defaultNamespace,
  validate: validateNamespace,
  validateUpdate: validateNamespaceUpdate,
  validateStatusUpdate: validateNamespaceStatusUpdate,
  selectableFields: { 'status.phase': ({ status }) => status?.phase ?? '' },
  table: namespaceTable,
};
