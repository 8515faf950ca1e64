import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, bool, bytes, field, type Infer, kind, mapOf, pointer, string } from '../../../schema.ts';

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
  'Configuration that pods read as files or as variables.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    immutable: pointer(4, bool, 'If true, the data cannot be changed any more, only the object deleted.'),
    data: field(2, mapOf(string), "Text, by key. Keys are letters, digits, '-', '_' and '.'."),
    binaryData: field(3, mapOf(bytes), 'Bytes, by key, in base64. A key may not be in data as well.'),
  },
);
export type ConfigMap = Infer<typeof ConfigMap>;
