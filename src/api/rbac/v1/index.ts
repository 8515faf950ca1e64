export * from './cluster-role.ts';
export * from './cluster-role-binding.ts';
export * from './policy-rule.ts';
export * from './role.ts';
export * from './role-binding.ts';
export * from './role-ref.ts';
export * from './subject.ts';
