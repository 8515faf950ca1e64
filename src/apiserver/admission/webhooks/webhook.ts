import type { admissionregistration } from '#api';
import { cel, StatusError } from '#machinery';
import type { AdmissionAttributes } from '../admission.ts';
import { evaluatedVariables } from '../expressions/admission-variables.ts';
import { activationOf } from '../expressions/evaluation.ts';
import { compileConditions, evaluateConditions, type MatchConditions } from '../expressions/match-conditions.ts';
import type { RequestAuthorizer } from '../expressions/request-authorizer.ts';
import type { MatchContext } from '../matching/match-context.ts';
import { RequestMatcher } from '../matching/request-matcher.ts';
import { type VersionedRequest, versionedRequest } from '../matching/versioned-request.ts';

export type WebhookObject = admissionregistration.ValidatingWebhook & Pick<admissionregistration.MutatingWebhook, 'reinvocationPolicy'>;

const DEFAULT_TIMEOUT_SECONDS = 10;

/** One webhook of a configuration, with its selectors and conditions compiled. */
export class Webhook {
  readonly name: string;
  readonly configuration: string;
  /** Unique among all webhooks. */
  readonly key: string;
  readonly client: admissionregistration.WebhookClientConfig;
  readonly failsOpen: boolean;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly reviewVersions: readonly string[];
  readonly runsAgain: boolean;
  readonly #matcher: RequestMatcher;
  readonly #variables: cel.PolicyVariables;
  readonly #conditions: MatchConditions;

  constructor(webhook: WebhookObject, place: { configuration: string; index: number }, context: MatchContext) {
    this.name = webhook.name ?? '';
    this.configuration = place.configuration;
    this.key = `${place.configuration}/${this.name}/${place.index}`;
    this.client = webhook.clientConfig ?? {};
    this.failsOpen = webhook.failurePolicy === 'Ignore';
    this.sideEffects = webhook.sideEffects ?? 'Unknown';
    this.timeoutSeconds = webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
    this.reviewVersions = webhook.admissionReviewVersions ?? [];
    this.runsAgain = webhook.reinvocationPolicy === 'IfNeeded';
    this.#matcher = matcherOf(webhook, context);
    this.#variables = new cel.PolicyVariables({ variables: evaluatedVariables({ hasParams: false, hasAuthorizer: true }) });
    this.#conditions = compileConditions(webhook.matchConditions, this.#variables);
  }

  /** The request in the version that the webhook expects; undefined if it does not match. Throws a StatusError if matching fails. */
  async select(attributes: AdmissionAttributes, authorizer: RequestAuthorizer): Promise<VersionedRequest | undefined> {
    const match = await this.#matcher.match(attributes);
    if (match === undefined) return undefined;
    const request = await versionedRequest(attributes, match);
    if (this.#conditions.length === 0) return request;
    const { matches, error } = await authorizer.evaluate(() => this.#evaluate(request, authorizer));
    if (error === undefined) return matches ? request : undefined;
    const { group, resource } = attributes.resource;
    throw StatusError.forbidden({ group, resource }, attributes.name, error);
  }

  #evaluate(request: VersionedRequest, authorizer: RequestAuthorizer) {
    const bound = this.#variables.bind(activationOf({ request, resource: request.attributes.resource, authorizer }));
    return evaluateConditions(this.#conditions, bound, this.failsOpen ? 'Ignore' : 'Fail');
  }
}

function matcherOf({ rules = [], namespaceSelector, objectSelector, matchPolicy }: WebhookObject, context: MatchContext): RequestMatcher {
  const selectors = { namespaceSelector, objectSelector };
  return new RequestMatcher({ ...selectors, resourceRules: rules, matchPolicy, matchesWithoutRules: false }, context);
}
