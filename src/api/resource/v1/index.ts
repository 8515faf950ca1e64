export * from './device-class.ts';
export * from './device-configuration.ts';
export * from './device-selector.ts';
export * from './device-toleration.ts';
export * from './resource-claim.ts';
export * from './resource-claim-spec.ts';
export * from './resource-claim-template.ts';
export * from './resource-slice.ts';
