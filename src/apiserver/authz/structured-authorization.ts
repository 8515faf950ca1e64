import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import { WatchedFile } from '../config-file/watched-file.ts';
import type { EgressSelector } from '../egress/egress-selector.ts';
import type { UserInfo } from '../request/user.ts';
import { KubeconfigWebhook } from '../webhook-client/kubeconfig-webhook.ts';
import { type AuthorizerConfiguration, parseAuthorizationConfiguration } from './authorization-configuration.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts';
import { unionAuthorizer } from './union-authorizer.ts';
import { WebhookAuthorizer } from './webhook/webhook-authorizer.ts';

export type BuiltInMode = Exclude<AuthorizerConfiguration['type'], 'Webhook'>;

export interface StructuredAuthorizationDeps {
  /** Real time. */
  readonly realClock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly apiServerId?: string | undefined;
  readonly egress?: EgressSelector | undefined;
  /** Built-in authorizers. Throws when the mode lacks its configuration. */
  readonly builtIn: (mode: BuiltInMode) => Authorizer;
}

interface LoadedAuthorization {
  readonly authorizer: Authorizer;
  readonly modes: readonly string[];
}

/** The authorizers of an AuthorizationConfiguration file, in order. */
export class StructuredAuthorization implements Authorizer {
  readonly #file: WatchedFile<LoadedAuthorization>;
  readonly #deps: StructuredAuthorizationDeps;
  /** Includes those of earlier versions of the file: requests may still wait for them. */
  readonly #webhooks: KubeconfigWebhook[] = [];

  /** Throws when the file is invalid. */
  constructor(path: string, deps: StructuredAuthorizationDeps) {
    this.#deps = deps;
    const parse = (text: string) => this.#load(parseAuthorizationConfiguration(text));
    this.#file = new WatchedFile({ path, parse, subject: 'authorization' }, { ...deps, clock: deps.realClock });
  }

  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision> {
    return this.#file.current.authorizer.authorize(attributes);
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules | Promise<ResolvedRules> {
    return this.#file.current.authorizer.rulesFor(user, namespace);
  }

  get modes(): readonly string[] {
    return this.#file.current.modes;
  }

  reload(): void {
    this.#file.reload();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#file.run(signal);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#webhooks.map((webhook) => webhook[Symbol.asyncDispose]()));
  }

  #load(configurations: readonly AuthorizerConfiguration[]): LoadedAuthorization {
    const authorizers = configurations.map((configuration) => this.#authorizer(configuration));
    return { authorizer: unionAuthorizer(authorizers), modes: configurations.map(({ type }) => type) };
  }

  #authorizer(configuration: AuthorizerConfiguration): Authorizer {
    if (configuration.type !== 'Webhook') return this.#deps.builtIn(configuration.type);
    const { realClock: clock, random, logger, metrics, egress } = this.#deps;
    const webhook = new KubeconfigWebhook(configuration.kubeconfig, { clock, logger, dial: egress?.controlplane });
    this.#webhooks.push(webhook);
    return new WebhookAuthorizer(configuration.webhook, { webhook, clock, random, metrics });
  }
}
