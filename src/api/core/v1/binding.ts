import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, required } from '../../schema.ts';
import { ObjectReference } from './object-reference.ts';

export const Binding = kind(
  { name: 'io.k8s.api.core.v1.Binding', group: '', version: 'v1', kind: 'Binding', resource: 'bindings', namespaced: true },
  '',
  {
    metadata: always(1, ObjectMeta),
    target: required(2, ObjectReference),
  },
);
export type Binding = Infer<typeof Binding>;
