import type { KindBehaviour } from '../../behaviour.ts';
import { defaultIngressClass } from './ingress-class.defaults.ts';
import { ingressClassTable } from './ingress-class.table.ts';
import { IngressClass } from './ingress-class.ts';
import { validateIngressClass, validateIngressClassUpdate } from './ingress-class.validation.ts';

export const ingressClassBehaviour: KindBehaviour<IngressClass> = {
  kind: IngressClass,
  defaults: defaultIngressClass,
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
  table: ingressClassTable,
};
