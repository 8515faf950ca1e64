import { field, type Infer, int64, object, pointer, required, string } from '../../schema.ts';

export const ShardInfo = object('io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo', '', {
  selector: required(1, string),
});
export type ShardInfo = Infer<typeof ShardInfo>;

export const ListMeta = object('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', '', {
  selfLink: field(1, string),
  resourceVersion: field(2, string),
  continue: field(3, string),
  remainingItemCount: pointer(4, int64),
  shardInfo: pointer(5, ShardInfo),
});
export type ListMeta = Infer<typeof ListMeta>;
