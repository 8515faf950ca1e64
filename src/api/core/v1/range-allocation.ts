import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bytes, type Infer, message, string } from '../../schema.ts';

export const RangeAllocation = message('io.k8s.api.core.v1.RangeAllocation', '', {
  metadata: always(1, ObjectMeta, 'Standard object metadata.'),
  range: always(2, string),
  data: always(3, bytes),
});
export type RangeAllocation = Infer<typeof RangeAllocation>;
