import { storage } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const csiNodesStrategy: ResourceStrategy<storage.CSINode> = { ...storage.csiNodeBehaviour, allowUnconditionalUpdate: false };
