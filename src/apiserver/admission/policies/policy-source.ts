import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceStorage } from '../../registry/resource-storage.ts';
import { type CacheFollower, followCache } from '../../watch-cache/follow-cache.ts';

/** A policy with the bindings that put it to use. */
export interface PolicyHook<Policy, Binding> {
  readonly name: string;
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

export interface PolicySourceOptions<Policy, Binding> {
  readonly policies: () => ResourceStorage;
  readonly bindings: () => ResourceStorage;
  compilePolicy(object: KubeObject): Policy;
  compileBinding(object: KubeObject): Binding & { readonly policyName: string };
}

/** Every policy in use, compiled once for each of its generations. */
export class PolicySource<Policy, Binding> {
  readonly #options: PolicySourceOptions<Policy, Binding>;
  readonly #policies: CompiledObjects<Policy>;
  readonly #bindings: CompiledObjects<Binding & { readonly policyName: string }>;
  #hooks: readonly PolicyHook<Policy, Binding>[] | undefined;
  #started: Promise<void> | undefined;
  #isReady = false;

  constructor(options: PolicySourceOptions<Policy, Binding>) {
    this.#options = options;
    const changed = () => {
      this.#hooks = undefined;
    };
    this.#policies = new CompiledObjects((object) => options.compilePolicy(object), changed);
    this.#bindings = new CompiledObjects((object) => options.compileBinding(object), changed);
  }

  /** By the names of the policies; the bindings of each by theirs. */
  hooks(): readonly PolicyHook<Policy, Binding>[] | Promise<readonly PolicyHook<Policy, Binding>[]> {
    if (!this.#isReady) return this.#start().then(() => this.hooks());
    this.#hooks ??= this.#collect();
    return this.#hooks;
  }

  #start(): Promise<void> {
    this.#started ??= this.#load().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #load(): Promise<void> {
    const { policies, bindings } = this.#options;
    await Promise.all([followCache(policies().cache, this.#policies), followCache(bindings().cache, this.#bindings)]);
    this.#isReady = true;
  }

  #collect(): readonly PolicyHook<Policy, Binding>[] {
    const bound = new Map<string, Binding[]>();
    for (const name of this.#bindings.names().toSorted()) {
      const binding = this.#bindings.get(name)!;
      bound.set(binding.policyName, [...(bound.get(binding.policyName) ?? []), binding]);
    }
    return [...bound.keys()].sort().flatMap((name) => {
      const policy = this.#policies.get(name);
      return policy === undefined ? [] : [{ name, policy, bindings: bound.get(name)! }];
    });
  }
}

interface Compiled<T> {
  readonly object: KubeObject;
  value?: T;
}

/** Objects by name, with what is made of each when it is first needed. */
export class CompiledObjects<T> implements CacheFollower {
  readonly #compile: (object: KubeObject) => T;
  readonly #changed: () => void;
  readonly #byKey = new Map<string, Compiled<T>>();
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

  reset(): void {
    this.#byKey.clear();
    this.#keyByName.clear();
    this.#changed();
  }

  put(key: string, object: KubeObject): void {
    const before = this.#byKey.get(key);
    // A change of status only: what was compiled still holds.
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
