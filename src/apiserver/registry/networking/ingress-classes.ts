import { networking } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const ingressClassesStrategy: ResourceStrategy<networking.IngressClass> = {
  ...networking.ingressClassBehaviour,
  tracksGeneration: true,
};
