import { bool, field, type Infer, int64, message, named, pointer, string } from '../../schema.ts';

export const ListOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions', 'Options of a list or watch.', {
  labelSelector: field(1, string, 'Only objects whose labels match.'),
  fieldSelector: field(2, string, 'Only objects whose fields match.'),
  watch: field(3, bool, 'If true, changes are sent as they happen, instead of a list.'),
  allowWatchBookmarks: field(9, bool, 'If true, the watch sends bookmarks with its resource version.'),
  resourceVersion: field(4, string, 'Not older than this version; 0 allows what the cache has.'),
  resourceVersionMatch: field(10, named('v1.ResourceVersionMatch'), 'How resourceVersion is meant: Exact or NotOlderThan.'),
  timeoutSeconds: pointer(5, int64, 'How long the request may take.'),
  limit: field(7, int64, 'How many objects at most; the rest is had with continue.'),
  continue: field(8, string, 'What an earlier part of the list said.'),
  sendInitialEvents: pointer(11, bool, 'If true, a watch begins with what there is, and a bookmark.'),
  shardSelector: field(15, string, 'Only objects of one part of all.'),
});
export type ListOptions = Infer<typeof ListOptions>;
