import type { KindBehaviour } from '../../behaviour.ts';
import { ingressTable } from './ingress.table.ts';
import { Ingress } from './ingress.ts';
import { ingressWarnings, validateIngress, validateIngressStatusUpdate, validateIngressUpdate } from './ingress.validation.ts';

export const ingressBehaviour: KindBehaviour<Ingress> = {
  kind: Ingress,
  validate: validateIngress,
  validateUpdate: validateIngressUpdate,
  validateStatusUpdate: validateIngressStatusUpdate,
  warnings: ingressWarnings,
  table: ingressTable,
};
