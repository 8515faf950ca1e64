import type { CachedObject } from './cached-object.ts';
import { type KubeObject, withMetadata } from './kube-object.ts';
import type { ObjectVersion } from './object-version.ts';
import { newFrame, type WatchFrame } from './watcher.ts';

export type ObjectPredicate = (object: KubeObject) => boolean;

/** The objects that `selectConverted` evaluates: load their versions first. */
export function objectsOfFrame({ object, previous }: WatchFrame): readonly CachedObject[] {
  return previous === undefined ? [object] : [object, previous];
}

/**
 * Applies selectors to a change of a resource with a conversion webhook. They name fields of the served version, so the cache, which holds the
 * stored one, cannot apply them. Selecting a selected frame again returns it unchanged.
 */
export function selectConverted(frame: WatchFrame, resource: ObjectVersion, matches: ObjectPredicate): WatchFrame | undefined {
  const { type, object, previous } = frame;
  const before = previous !== undefined && matches(previous.as(resource).object);
  if (type !== 'DELETED' && matches(object.as(resource).object)) return withType(frame, before ? 'MODIFIED' : 'ADDED');
  if (!before) return undefined;
  return type === 'DELETED' ? frame : newFrame('DELETED', lastMatch(previous, object.revision, resource), previous);
}

function withType(frame: WatchFrame, type: WatchFrame['type']): WatchFrame {
  return frame.type === type ? frame : newFrame(type, frame.object, frame.previous);
}

/** An object that no longer matches is deleted for the watcher: as it last matched, under the revision of the change. */
function lastMatch(previous: CachedObject, revision: number, resource: ObjectVersion): CachedObject {
  const last = previous.at(revision);
  last.keep(resource, withMetadata(previous.as(resource).object, { resourceVersion: String(revision) }));
  return last;
}
