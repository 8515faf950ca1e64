import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceStorage } from '../../registry/resource-storage.ts';
import { followCache } from '../../watch-cache/follow-cache.ts';
import { CompiledObjects } from '../compiled-objects.ts';

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
