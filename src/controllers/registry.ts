import type { Controller } from './runtime/controller.ts';

/** Every controller there is, in the order in which they are started. */
export const CONTROLLERS: readonly Controller[] = [];
