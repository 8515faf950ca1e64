import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceStorage } from '../../registry/resource-storage.ts';
import { followCache } from '../../watch-cache/follow-cache.ts';
import { CompiledObjects } from '../compiled-objects.ts';
import type { MatchContext } from '../matching/match-context.ts';
import { Webhook, type WebhookObject } from './webhook.ts';

/** The webhooks of every configuration: by the configurations' names, and as each lists them. */
export class WebhookSource {
  readonly #storage: () => ResourceStorage;
  readonly #configurations: CompiledObjects<readonly Webhook[]>;
  #webhooks: readonly Webhook[] | undefined;
  #started: Promise<void> | undefined;
  #isReady = false;

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
    if (!this.#isReady) return this.#start().then(() => this.webhooks());
    this.#webhooks ??= this.#configurations
      .names()
      .toSorted()
      .flatMap((name) => this.#configurations.get(name) ?? []);
    return this.#webhooks;
  }

  #start(): Promise<void> {
    this.#started ??= followCache(this.#storage().cache, this.#configurations).then(
      () => {
        this.#isReady = true;
      },
      (error: unknown) => {
        this.#started = undefined;
        throw error;
      },
    );
    return this.#started;
  }
}

function compileWebhooks({ metadata, webhooks }: KubeObject, context: MatchContext): readonly Webhook[] {
  const configuration = metadata.name;
  return ((webhooks ?? []) as readonly WebhookObject[]).map((webhook, index) => new Webhook(webhook, { configuration, index }, context));
}
