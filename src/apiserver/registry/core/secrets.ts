import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const secretsStrategy: ResourceStrategy<core.Secret> = {
  ...core.secretBehaviour,
  fieldLabelError: (field) => `field label not supported: ${field}`,
};
