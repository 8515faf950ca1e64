import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, bytes, field, type Infer, kind, mapOf, pointer, string } from '../../schema.ts';

export const ConfigMap = kind(
  {
    name: 'io.k8s.api.core.v1.ConfigMap',
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespaced: true,
    shortNames: ['cm'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    immutable: pointer(4, bool),
    data: field(2, mapOf(string)),
    binaryData: field(3, mapOf(bytes)),
  },
);
export type ConfigMap = Infer<typeof ConfigMap>;
