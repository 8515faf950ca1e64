import {
  type Identified,
  type InformerDeps,
  type InformerHandler,
  type InformerOptions,
  type ResourceClient,
  SharedInformer,
} from '#client';
import { isStatusReason } from '#machinery';

export interface OptionalApiInformerConfig<T extends Identified> extends Pick<InformerOptions, 'fieldSelector'> {
  /** What needs the API, for the error. */
  readonly user: string;
  readonly handler: InformerHandler<T>;
}

/** An informer of an API that the server may not serve. It starts with the first call of `synced`. */
export class OptionalApiInformer<T extends Identified> implements AsyncDisposable {
  #informer: SharedInformer<T> | undefined;

  constructor(
    private readonly client: ResourceClient<T>,
    private readonly deps: InformerDeps,
    private readonly config: OptionalApiInformerConfig<T>,
  ) {}

  /** Rejects if the API is not served. */
  async synced(): Promise<SharedInformer<T>> {
    if (this.#informer === undefined) await this.#checkServed();
    this.#informer ??= this.#start();
    await this.#informer.synced;
    return this.#informer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer?.stop();
  }

  async #checkServed(): Promise<void> {
    try {
      await this.client.list({ ...this.#selection, limit: 1 });
    } catch (error) {
      if (!isStatusReason(error, 'NotFound')) throw error;
      const { group, version, resource } = this.client.ref;
      const api = `${group}/${version} ${resource}`;
      throw new Error(`${this.config.user} needs the API ${api}, which the API server does not serve`, { cause: error });
    }
  }

  #start(): SharedInformer<T> {
    const informer = new SharedInformer<T>(this.client, this.deps, this.#selection);
    informer.addHandler(this.config.handler);
    informer.begin();
    return informer;
  }

  get #selection(): Pick<InformerOptions, 'fieldSelector'> {
    const { fieldSelector } = this.config;
    return fieldSelector === undefined ? {} : { fieldSelector };
  }
}
