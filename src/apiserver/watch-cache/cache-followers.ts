import type { Logger } from '#base';
import type { CachedObject } from './cached-object.ts';
import type { KubeObject } from './kube-object.ts';
import type { CacheEvent } from './watcher.ts';

/** State derived from all objects of a resource. Errors are logged and affect one object only. */
export interface CacheFollower {
  /** The object is new or has changed. */
  put(key: string, object: KubeObject): void;
  remove(key: string): void;
}

/** The followers of one resource; always exactly as current as the cache. */
export class CacheFollowers {
  readonly #followers = new Set<CacheFollower>();

  constructor(private readonly options: { readonly logger: Logger; readonly prefix: string }) {}

  add(follower: CacheFollower, objects: Iterable<CachedObject>): void {
    this.#followers.add(follower);
    for (const object of objects) this.#put(follower, object);
  }

  deliver({ object, deleted }: CacheEvent): void {
    for (const follower of this.#followers) {
      if (deleted) this.#remove(follower, object.key);
      else this.#put(follower, object);
    }
  }

  /** The resource was reloaded: followers get the differences. */
  replace(before: ReadonlyMap<string, CachedObject>, now: ReadonlyMap<string, CachedObject>): void {
    for (const follower of this.#followers) {
      for (const key of before.keys()) if (!now.has(key)) this.#remove(follower, key);
      for (const [key, object] of now) if (before.get(key)?.revision !== object.revision) this.#put(follower, object);
    }
  }

  #put(follower: CacheFollower, { key, object }: CachedObject): void {
    try {
      follower.put(key, object);
    } catch (error) {
      this.#failed(key, error);
    }
  }

  #remove(follower: CacheFollower, key: string): void {
    try {
      follower.remove(key);
    } catch (error) {
      this.#failed(key, error);
    }
  }

  /** An error affects neither other followers nor watchers. */
  #failed(key: string, error: unknown): void {
    this.options.logger.error('cannot follow a change', { key, error });
  }
}
