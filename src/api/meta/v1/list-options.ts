import { bool, field, type Infer, int64, message, pointer, string } from '../../schema.ts';

export const ListOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions', '', {
  labelSelector: field(1, string),
  fieldSelector: field(2, string),
  watch: field(3, bool),
  allowWatchBookmarks: field(9, bool),
  resourceVersion: field(4, string),
  resourceVersionMatch: field(10, string),
  timeoutSeconds: pointer(5, int64),
  limit: field(7, int64),
  continue: field(8, string),
  sendInitialEvents: pointer(11, bool),
  shardSelector: field(15, string),
});
export type ListOptions = Infer<typeof ListOptions>;
