import { field, type Infer, int64, object, pointer, required, string } from '../../schema.ts';

export const ShardInfo = object('io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo', 'Which part of the objects a list is limited to.', {
  selector: required(1, string, 'The selector of the part.'),
});
export type ShardInfo = Infer<typeof ShardInfo>;

export const ListMeta = object('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', 'What every list has.', {
  selfLink: field(1, string, 'No longer filled in.'),
  resourceVersion: field(2, string, 'The version of the list: a watch can begin here.'),
  continue: field(3, string, 'What to send for the next part, when the list is not complete.'),
  remainingItemCount: pointer(4, int64, 'How many items are left, when that is known.'),
  shardInfo: pointer(5, ShardInfo, 'Which part of the objects the list is limited to.'),
});
export type ListMeta = Infer<typeof ListMeta>;
