import type { KubeObject } from '../registry/kube-object.ts';
import type { ResourceCache } from './resource-cache.ts';
import type { WatchFrame } from './watcher.ts';

/** Keeps something derived from all objects of a resource: told of each change as it happens. */
export interface CacheFollower {
  /** All objects come again: what was put before is void. */
  reset(): void;
  put(key: string, object: KubeObject): void;
  remove(key: string): void;
}

/** Resolves once the follower has every object; from then on it is never behind the cache. */
export async function followCache(cache: ResourceCache, follower: CacheFollower): Promise<void> {
  await cache.start();
  follower.reset();
  cache.watch(
    { key: EVERYTHING, prefix: cache.prefix, matches: undefined },
    {
      frame: ({ type, object }: WatchFrame) => {
        if (type === 'DELETED') follower.remove(object.key);
        else follower.put(object.key, object.object);
      },
      bookmark: () => {},
      error: () => {},
      end: (reason) => {
        if (reason !== 'closed') void followCache(cache, follower).catch(() => {});
      },
    },
    {},
  );
}

const EVERYTHING = 'followers of everything';
