import { type Clock, type Logger, type MetricsRegistry, type Random, realClock } from '#base';
import type { TokenAuthenticator } from './authn/authenticator.ts';
import { JwtAuthenticator } from './authn/oidc/jwt-authenticator.ts';
import type { JwtConfiguration } from './authn/oidc/jwt-configuration.ts';
import { StructuredAuthentication } from './authn/structured-authentication.ts';
import { WebhookTokens, type WebhookTokensConfig } from './authn/webhook-tokens.ts';
import { abacAuthorizer } from './authz/abac/abac-authorizer.ts';
import type { AbacPolicy } from './authz/abac/abac-policy.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { type BuiltInMode, StructuredAuthorization } from './authz/structured-authorization.ts';
import { WebhookAuthorizer, type WebhookAuthorizerConfig } from './authz/webhook/webhook-authorizer.ts';
import type { EgressSelector } from './egress/egress-selector.ts';
import { type KubeconfigFile, KubeconfigWebhook } from './webhook-client/kubeconfig-webhook.ts';

/** External authentication and authorization. */
export interface ExternalSecurityConfig {
  /** The issuer from `--oidc-*` flags. */
  readonly oidc?: JwtConfiguration;
  /** The path of an AuthenticationConfiguration. */
  readonly authenticationConfig?: string;
  readonly tokenWebhook?: WebhookTokensConfig & { readonly kubeconfig: KubeconfigFile };
  /** The path of an AuthorizationConfiguration, which replaces the modes. */
  readonly authorizationConfig?: string;
  /** For the mode `Webhook`. */
  readonly authorizationWebhook?: Pick<WebhookAuthorizerConfig, 'version' | 'authorizedTtlMs' | 'unauthorizedTtlMs'> & {
    readonly kubeconfig: KubeconfigFile;
  };
  /** For the mode `ABAC`. */
  readonly abacPolicies?: readonly AbacPolicy[];
}

export interface ExternalSecurityDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly apiServerId?: string | undefined;
  readonly egress?: EgressSelector | undefined;
  readonly disallowedIssuers: readonly string[];
  /** The built-in modes. */
  readonly builtIn: (mode: Exclude<BuiltInMode, 'ABAC'>) => Authorizer;
}

const AUTHORIZATION_TIMEOUT_MS = 30_000;

/** Connections to external authenticators and authorizers. Throws on invalid files. */
export class ExternalSecurity {
  readonly tokens: readonly TokenAuthenticator[];
  readonly #config: ExternalSecurityConfig;
  readonly #deps: ExternalSecurityDeps;
  readonly #authentication: StructuredAuthentication | undefined;
  readonly #authorization: StructuredAuthorization | undefined;
  readonly #webhooks: KubeconfigWebhook[] = [];

  constructor(config: ExternalSecurityConfig, deps: ExternalSecurityDeps) {
    this.#config = config;
    this.#deps = deps;
    const own = { ...deps, realClock };
    const { authenticationConfig, authorizationConfig, oidc, tokenWebhook } = config;
    this.#authentication = authenticationConfig === undefined ? undefined : new StructuredAuthentication(authenticationConfig, own);
    const builtIn = (mode: BuiltInMode) => (mode === 'ABAC' ? this.abac() : deps.builtIn(mode));
    this.#authorization =
      authorizationConfig === undefined ? undefined : new StructuredAuthorization(authorizationConfig, { ...own, builtIn });
    this.tokens = [
      ...(oidc ? [new JwtAuthenticator(oidc, own)] : []),
      ...(this.#authentication ? [this.#authentication] : []),
      ...(tokenWebhook
        ? [new WebhookTokens(tokenWebhook, { ...own, clock: realClock, webhook: this.#webhook(tokenWebhook.kubeconfig) })]
        : []),
    ];
  }

  /** Replaces the modes, if configured. */
  get authorizer(): (Authorizer & { readonly modes: readonly string[] }) | undefined {
    return this.#authorization;
  }

  webhookAuthorizer(): Authorizer {
    const { authorizationWebhook: config } = this.#config;
    if (config === undefined) throw new Error('the authorization mode Webhook needs --authorization-webhook-config-file');
    const own = { name: 'default', timeoutMs: AUTHORIZATION_TIMEOUT_MS, failurePolicy: 'NoOpinion', matchConditions: [] } as const;
    return new WebhookAuthorizer({ ...config, ...own }, { ...this.#deps, clock: realClock, webhook: this.#webhook(config.kubeconfig) });
  }

  abac(): Authorizer {
    if (this.#config.abacPolicies === undefined) throw new Error('the authorization mode ABAC needs --authorization-policy-file');
    return abacAuthorizer(this.#config.abacPolicies);
  }

  /** Undefined when not configured. */
  allowsAnonymous(path: string): boolean | undefined {
    return this.#authentication?.allowsAnonymous(path);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#authentication?.run(signal), this.#authorization?.run(signal)]);
  }

  /** Loads changed files now. */
  reload(): void {
    this.#authentication?.reload();
    this.#authorization?.reload();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#authorization?.stop(), ...this.#webhooks.map((webhook) => webhook[Symbol.asyncDispose]())]);
  }

  #webhook(kubeconfig: KubeconfigFile): KubeconfigWebhook {
    const webhook = new KubeconfigWebhook(kubeconfig, {
      clock: realClock,
      logger: this.#deps.logger,
      dial: this.#deps.egress?.controlplane,
    });
    this.#webhooks.push(webhook);
    return webhook;
  }
}
