import { networking } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const ingressClassesStrategy: ResourceStrategy<networking.IngressClass> = {
  ...networking.ingressClassBehaviour,
  tracksGeneration: true,
};
