export * from './cluster-trust-bundle.behaviour.ts';
export * from './cluster-trust-bundle.ts';
export * from './pod-certificate-request.behaviour.ts';
export * from './pod-certificate-request.ts';
