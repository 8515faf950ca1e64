import { storage } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const csiNodesStrategy: ResourceStrategy<storage.CSINode> = {
  ...storage.csiNodeBehaviour,
  allowUnconditionalUpdate: false,
  returnsDeletedObject: true,
};
