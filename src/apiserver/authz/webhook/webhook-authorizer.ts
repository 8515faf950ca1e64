import { type Clock, Lru, type MetricsRegistry, type Random } from '#base';
import { encodeJson, isJsonObject } from '#machinery';
import type { UserInfo } from '../../request/user.ts';
import type { KubeconfigWebhook } from '../../webhook-client/kubeconfig-webhook.ts';
import { postRetried } from '../../webhook-client/retried-post.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import type { MatchConditions } from './match-conditions.ts';

export interface WebhookAuthorizerConfig {
  readonly name: string;
  readonly version: 'v1' | 'v1beta1';
  /** Cache TTLs; 0: disabled. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly timeoutMs: number;
  /** The decision when the webhook fails. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly matchConditions: MatchConditions;
}

export interface WebhookAuthorizerDeps {
  readonly webhook: Pick<KubeconfigWebhook, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
}

const REMEMBERED = 8192;
/** Longer attributes are not cached. */
const MAX_REMEMBERED_LENGTH = 10_000;
const NO_OPINION: Decision = { verdict: 'no opinion', reason: '' };
const UNRESOLVED: ResolvedRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
};

/** The mode `Webhook`: delegates to a service by SubjectAccessReview. */
export class WebhookAuthorizer implements Authorizer {
  readonly #config: WebhookAuthorizerConfig;
  readonly #deps: WebhookAuthorizerDeps;
  readonly #allowed: Lru<string, Decision>;
  readonly #others: Lru<string, Decision>;

  constructor(config: WebhookAuthorizerConfig, deps: WebhookAuthorizerDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#allowed = new Lru({ capacity: REMEMBERED, ttlMs: config.authorizedTtlMs, clock: deps.clock });
    this.#others = new Lru({ capacity: REMEMBERED, ttlMs: config.unauthorizedTtlMs, clock: deps.clock });
  }

  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision> {
    const spec = reviewSpec(attributes);
    const { matchConditions } = this.#config;
    if (matchConditions.length > 0) {
      try {
        if (!matchConditions.every((condition) => condition.matches(spec))) return NO_OPINION;
      } catch (error) {
        return this.#failed(error);
      }
    }
    const key = encodeJson(spec);
    return this.#allowed.get(key) ?? this.#others.get(key) ?? this.#postReview(spec, key);
  }

  rulesFor(_user: UserInfo): ResolvedRules {
    return UNRESOLVED;
  }

  async #postReview(spec: object, key: string): Promise<Decision> {
    const { version, timeoutMs } = this.#config;
    const review = {
      apiVersion: `authorization.k8s.io/${version}`,
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: versioned(spec, version),
    };
    try {
      const decision = decisionOf(await postRetried(review, this.#deps, timeoutMs));
      this.#remember(key, decision);
      return decision;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #remember(key: string, decision: Decision): void {
    const { authorizedTtlMs, unauthorizedTtlMs } = this.#config;
    const [remembered, ttlMs] = decision.verdict === 'allow' ? [this.#allowed, authorizedTtlMs] : [this.#others, unauthorizedTtlMs];
    if (ttlMs > 0 && key.length <= MAX_REMEMBERED_LENGTH) remembered.set(key, decision);
  }

  #failed(error: unknown): Decision {
    const { name, failurePolicy } = this.#config;
    if (failurePolicy === 'Deny') return { verdict: 'deny', reason: '', error: (error as Error).message };
    this.#deps.metrics
      .counter({
        name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
        help: 'Requests that were decided without the webhook, which could not be asked.',
        labels: ['name', 'result'],
      })
      .with({ name, result: 'error' })
      .inc();
    return { verdict: 'no opinion', reason: '', error: (error as Error).message };
  }
}

/** A SubjectAccessReviewSpec. */
function reviewSpec(attributes: AuthorizationAttributes): object {
  const { user, verb, isResource, path } = attributes;
  return {
    user: user.name,
    ...(user.uid && { uid: user.uid }),
    groups: user.groups,
    ...(user.extra && { extra: user.extra }),
    ...(isResource ? { resourceAttributes: resourceAttributes(attributes) } : { nonResourceAttributes: { path, verb } }),
  };
}

function resourceAttributes(attributes: AuthorizationAttributes): object {
  const { namespace, verb, group, version, resource, subresource, name } = attributes;
  const attributeFields = { namespace, verb, group, version, resource, subresource, name };
  return Object.fromEntries(Object.entries(attributeFields).filter(([, value]) => value !== ''));
}

/** v1beta1 names the groups field `group`. */
function versioned(spec: object, version: 'v1' | 'v1beta1'): object {
  if (version === 'v1') return spec;
  const { groups, ...rest } = spec as { groups?: unknown };
  return { ...rest, group: groups };
}

function decisionOf(answer: unknown): Decision {
  const status = isJsonObject(answer as never) ? (answer as { status?: unknown }).status : undefined;
  if (!isJsonObject(status as never)) throw new Error('the authorization webhook answered without a status');
  const { allowed, denied, reason, evaluationError } = status as Readonly<Record<string, unknown>>;
  if (allowed === true && denied === true) throw new Error('webhook subject access review returned both allow and deny response');
  const verdict = denied === true ? 'deny' : allowed === true ? 'allow' : 'no opinion';
  const text = typeof reason === 'string' ? reason : '';
  return {
    verdict,
    reason: text,
    ...(verdict !== 'allow' && typeof evaluationError === 'string' && evaluationError !== '' && { error: evaluationError }),
  };
}
