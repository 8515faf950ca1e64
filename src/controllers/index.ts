export { type ControllerOptions, DEFAULT_CONTROLLER_OPTIONS } from './options.ts';
export { CONTROLLERS } from './registry.ts';
export type { Controller, ControllerContext, RunningController } from './runtime/controller.ts';
export { type ControllerManagerConfig, type ControllerManagerDeps, startControllerManager } from './runtime/controller-manager.ts';
export { enabledControllers } from './runtime/enabled-controllers.ts';
