import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Equivalent to a pod's `binding` subresource, with the pod's name in the body. */
export const bindingsStrategy: ResourceStrategy<core.Binding> = { kind: core.Binding, verbs: ['create'], isStored: false };
