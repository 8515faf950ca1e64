import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, bytes, field, type Infer, kind, mapOf, pointer, string } from '../../schema.ts';

export const Secret = kind(
  { name: 'io.k8s.api.core.v1.Secret', group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true },
  '',
  {
    metadata: always(1, ObjectMeta),
    immutable: pointer(5, bool),
    data: field(2, mapOf(bytes)),
    stringData: field(4, mapOf(string)),
    type: field(3, string),
  },
);
export type Secret = Infer<typeof Secret>;
