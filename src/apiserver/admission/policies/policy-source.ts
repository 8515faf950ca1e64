import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ResourceCache } from '../../watch-cache/resource-cache.ts';
import { CompiledObjects } from '../compiled-objects.ts';

/** A policy with its bindings. */
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

/** All bound policies, compiled once per generation. */
export class PolicySource<Policy, Binding> {
  readonly #options: PolicySourceOptions<Policy, Binding>;
  readonly #policies: CompiledObjects<Policy>;
  readonly #bindings: CompiledObjects<Binding & { readonly policyName: string }>;
  #hooks: readonly PolicyHook<Policy, Binding>[] | undefined;
  #followed: readonly ResourceCache[] | undefined;

  constructor(options: PolicySourceOptions<Policy, Binding>) {
    this.#options = options;
    const changed = () => {
      this.#hooks = undefined;
    };
    this.#policies = new CompiledObjects((object) => options.compilePolicy(object), changed);
    this.#bindings = new CompiledObjects((object) => options.compileBinding(object), changed);
  }

  /** Sorted by policy name; the bindings of each by theirs. */
  hooks(): readonly PolicyHook<Policy, Binding>[] | Promise<readonly PolicyHook<Policy, Binding>[]> {
    if (!this.#isCurrent) return this.#start().then(() => this.hooks());
    this.#hooks ??= this.#collect();
    return this.#hooks;
  }

  /** Rejects if they cannot be read: all requests are then rejected. */
  async #start(): Promise<void> {
    this.#followed ??= this.#follow();
    while (!this.#isCurrent) await Promise.all(this.#followed.map((cache) => cache.start()));
  }

  #follow(): readonly ResourceCache[] {
    const policies = this.#options.policies().cache;
    const bindings = this.#options.bindings().cache;
    // `#start` rejects with this error.
    void policies.follow(this.#policies).catch(() => {});
    void bindings.follow(this.#bindings).catch(() => {});
    return [policies, bindings];
  }

  get #isCurrent(): boolean {
    return this.#followed?.every((cache) => cache.isStarted) === true;
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
