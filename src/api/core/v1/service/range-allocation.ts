import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, bytes, type Infer, message, string } from '../../../schema.ts';

export const RangeAllocation = message(
  'io.k8s.api.core.v1.RangeAllocation',
  'How a range of addresses or ports is used up. Kept by the system.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    range: always(2, string, 'The range.'),
    data: always(3, bytes, 'One bit for each that is taken.'),
  },
);
export type RangeAllocation = Infer<typeof RangeAllocation>;
