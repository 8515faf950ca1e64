import { fillUnset, mapField } from '../../defaulting.ts';
import type { IngressClass } from './ingress-class.ts';

export function defaultIngressClass(ingressClass: IngressClass): IngressClass {
  return mapField(ingressClass, 'spec', (spec: NonNullable<IngressClass['spec']>) =>
    mapField(spec, 'parameters', (parameters) => fillUnset(parameters, { scope: 'Cluster' })),
  );
}
