import type { CacheFollower } from '../watch-cache/cache-followers.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

interface CompiledEntry<T> {
  readonly object: KubeObject;
  value?: T;
}

/** Objects by name, each compiled on first use. */
export class CompiledObjects<T> implements CacheFollower {
  readonly #compile: (object: KubeObject) => T;
  readonly #changed: () => void;
  readonly #byKey = new Map<string, CompiledEntry<T>>();
  readonly #keyByName = new Map<string, string>();

  constructor(compile: (object: KubeObject) => T, changed: () => void) {
    this.#compile = compile;
    this.#changed = changed;
  }

  names(): readonly string[] {
    return [...this.#keyByName.keys()];
  }

  get(name: string): T | undefined {
    const compiled = this.#byKey.get(this.#keyByName.get(name) ?? '');
    if (compiled === undefined) return undefined;
    compiled.value ??= this.#compile(compiled.object);
    return compiled.value;
  }

  put(key: string, object: KubeObject): void {
    const before = this.#byKey.get(key);
    // Only status changed: the compiled value is still valid.
    if (before !== undefined && isSameGeneration(before.object, object)) return;
    this.#byKey.set(key, { object });
    this.#keyByName.set(object.metadata.name, key);
    this.#changed();
  }

  remove(key: string): void {
    const before = this.#byKey.get(key);
    if (before === undefined) return;
    this.#byKey.delete(key);
    this.#keyByName.delete(before.object.metadata.name);
    this.#changed();
  }
}

function isSameGeneration({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.uid === b.uid && a.generation !== undefined && a.generation === b.generation;
}
