import { always, type Infer, message } from '../../../schema.ts';
import { ObjectReference } from './object-reference.ts';

export const SerializedReference = message('io.k8s.api.core.v1.SerializedReference', 'A reference, for storing it as text.', {
  reference: always(1, ObjectReference, 'The object.'),
});
export type SerializedReference = Infer<typeof SerializedReference>;
