import type { Kind } from '#api';
import type { Identified, KubeObject } from './kube-object.ts';
import { ResourceClient } from './resource-client.ts';
import type { ResourceRef } from './resource-path.ts';
import type { Transport } from './transport.ts';

export interface ClientOptions {
  /** The field manager of this client's writes. Default: the program's name in its user agent. */
  readonly fieldManager?: string;
  /** Called for each warning in a response. */
  readonly onWarning?: (text: string) => void;
}

/**
 * A typed API client: `client.of(core.Pod).list({ namespace: 'default' })` returns pods. Kinds that are only known at
 * run time are addressed by name: `client.resource({ group: 'example.com', version: 'v1', resource: 'boats', namespaced: true })`.
 */
export class Client implements AsyncDisposable {
  readonly #options: ClientOptions;
  readonly #resources = new Map<object, ResourceClient<Identified>>();

  constructor(
    readonly transport: Transport,
    options: ClientOptions = {},
  ) {
    this.#options = options;
  }

  of<T extends Identified>(kind: Kind<T>): ResourceClient<T> {
    let resource = this.#resources.get(kind);
    if (resource === undefined) {
      resource = new ResourceClient<Identified>(kind, this.transport, this.#options);
      this.#resources.set(kind, resource);
    }
    return resource as unknown as ResourceClient<T>;
  }

  resource(ref: ResourceRef): ResourceClient<KubeObject> {
    return new ResourceClient(ref, this.transport, this.#options);
  }

  /** Closes the transport. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport[Symbol.asyncDispose]();
  }
}
