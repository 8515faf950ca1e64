import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, bool, bytes, field, type Infer, kind, mapOf, named, pointer, string } from '../../../schema.ts';

export const Secret = kind(
  { name: 'io.k8s.api.core.v1.Secret', group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true },
  'Confidential data that pods read as files or as variables.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    immutable: pointer(5, bool, 'If true, the data cannot be changed any more, only the object deleted.'),
    data: field(2, mapOf(bytes), 'Values in base64, by key.'),
    stringData: field(4, mapOf(string), 'Values as plain text, by key; written into data, never shown.'),
    type: field(3, named('v1.SecretType'), 'What the secret is for; some types demand certain keys.'),
  },
);
export type Secret = Infer<typeof Secret>;
