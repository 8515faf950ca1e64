import type { ObjectSchema } from '#machinery';
import { ListMeta } from './meta/v1/list-meta.ts';
import { always, message, required, unmarkedListOf } from './schema.ts';

/** The schema of a kind's list, such as PodList. Created on each call: keep it for repeated use. */
export function listSchemaOf(kind: ObjectSchema): ObjectSchema {
  const shortName = kind.name.slice(kind.name.lastIndexOf('.') + 1);
  return message(`${kind.name}List`, `A list of ${shortName} objects.`, {
    metadata: always(1, ListMeta, 'Metadata of the list: its resource version, and how to go on reading it.'),
    items: required(2, unmarkedListOf(kind), 'The objects.'),
  });
}
