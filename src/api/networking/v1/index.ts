export * from './ingress.ts';
export * from './ingress-class.ts';
export * from './ip-address.ts';
export * from './network-policy.ts';
export * from './service-cidr.ts';
