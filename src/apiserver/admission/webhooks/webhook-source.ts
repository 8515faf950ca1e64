import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ResourceCache } from '../../watch-cache/resource-cache.ts';
import { CompiledObjects } from '../compiled-objects.ts';
import type { MatchContext } from '../matching/match-context.ts';
import { Webhook, type WebhookObject } from './webhook.ts';

/** The webhooks of all configurations, sorted by configuration name, in their order. */
export class WebhookSource {
  readonly #storage: () => ResourceStorage;
  readonly #configurations: CompiledObjects<readonly Webhook[]>;
  #webhooks: readonly Webhook[] | undefined;
  #followed: ResourceCache | undefined;

  constructor(storage: () => ResourceStorage, context: MatchContext) {
    this.#storage = storage;
    this.#configurations = new CompiledObjects(
      (object) => compileWebhooks(object, context),
      () => {
        this.#webhooks = undefined;
      },
    );
  }

  webhooks(): readonly Webhook[] | Promise<readonly Webhook[]> {
    if (this.#followed?.isStarted !== true) return this.#start().then(() => this.webhooks());
    this.#webhooks ??= this.#configurations
      .names()
      .toSorted()
      .flatMap((name) => this.#configurations.get(name) ?? []);
    return this.#webhooks;
  }

  /** Rejects if they cannot be read: all requests are then rejected. */
  #start(): Promise<void> {
    if (this.#followed !== undefined) return this.#followed.start();
    this.#followed = this.#storage().cache;
    return this.#followed.follow(this.#configurations);
  }
}

function compileWebhooks({ metadata, webhooks }: KubeObject, context: MatchContext): readonly Webhook[] {
  const configuration = metadata.name;
  return ((webhooks ?? []) as readonly WebhookObject[]).map((webhook, index) => new Webhook(webhook, { configuration, index }, context));
}
