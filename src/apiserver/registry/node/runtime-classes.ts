import { node } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const runtimeClassesStrategy: ResourceStrategy<node.RuntimeClass> = {
  ...node.runtimeClassBehaviour,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
};
