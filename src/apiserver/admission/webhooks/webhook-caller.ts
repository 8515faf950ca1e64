import type { Attributes, Clock, MetricsRegistry, Random, Tracer } from '#base';
import type { VersionedRequest } from '../matching/versioned-request.ts';
import { admissionReview, checkResponse, type ReviewResponse, reviewVersion } from './admission-review.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookClient } from './webhook-client.ts';
import { dryRunUnsupported, WebhookCallError, webhookRejection } from './webhook-error.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

export interface WebhookCallerDeps {
  readonly random: Random;
  readonly tracer?: Tracer | undefined;
  readonly metrics: MetricsRegistry;
  /** Real time. */
  readonly peerClock: Clock;
}

/** Calls one webhook for one request. */
export class WebhookCaller {
  readonly #client: WebhookClient;
  readonly #random: Random;
  readonly #tracer: Tracer | undefined;
  readonly #metrics: WebhookMetrics;

  constructor(client: WebhookClient, { random, tracer, metrics, peerClock }: WebhookCallerDeps) {
    this.#client = client;
    this.#metrics = new WebhookMetrics(metrics, peerClock);
    this.#random = random;
    this.#tracer = tracer;
  }

  /** The response of a webhook that allows the request. Throws a StatusError if it denies it, and a WebhookCallError if the call fails. */
  call(webhook: Webhook, request: VersionedRequest, mayPatch: boolean): Promise<ReviewResponse> {
    const labels = { webhook, type: mayPatch ? 'admit' : 'validating', operation: request.attributes.operation } as const;
    return this.#metrics.measured(labels, () => this.#call(webhook, request, mayPatch));
  }

  async #call(webhook: Webhook, request: VersionedRequest, mayPatch: boolean): Promise<ReviewResponse> {
    const { attributes } = request;
    if (attributes.dryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects)) throw dryRunUnsupported(webhook.name);
    const uid = this.#random.uuid();
    const call = () => this.#post(webhook, request, { uid, mayPatch });
    const name = `Call ${mayPatch ? 'mutating' : 'validating'} webhook`;
    const answer = await (this.#tracer?.child(name, { attributes: () => callAttributes(webhook, request, uid) }, call) ?? call());
    for (const [key, value] of Object.entries(answer.auditAnnotations)) attributes.audit?.annotate(`${webhook.name}/${key}`, value);
    for (const warning of answer.warnings) attributes.warn(warning);
    if (!answer.allowed) throw webhookRejection(webhook.name, answer.result);
    return answer;
  }

  async #post(
    webhook: Webhook,
    request: VersionedRequest,
    { uid, mayPatch }: { readonly uid: string; readonly mayPatch: boolean },
  ): Promise<ReviewResponse> {
    const { name, client: config, timeoutSeconds } = webhook;
    const { signal } = request.attributes;
    const version = failing(name, 'could not create admission objects', () => reviewVersion(webhook.reviewVersions));
    const body = admissionReview(request, { uid, version });
    const called = this.#client.call({ config, body, timeoutSeconds, signal });
    const review = await called.catch((error: Error) => {
      throw new WebhookCallError(name, `failed to call webhook: ${error.message}`, { cause: error });
    });
    return failing(name, 'received invalid webhook response', () => checkResponse(review, { uid, version, mayPatch }));
  }
}

function callAttributes(webhook: Webhook, { attributes }: VersionedRequest, uid: string): Attributes {
  const { group, version, resource } = attributes.resource;
  return {
    configuration: webhook.configuration,
    webhook: webhook.name,
    resource: `${group}/${version}, Resource=${resource}`,
    subresource: attributes.subresource,
    operation: attributes.operation,
    UID: uid,
  };
}

function failing<T>(webhook: string, problem: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new WebhookCallError(webhook, `${problem}: ${(error as Error).message}`, { cause: error });
  }
}
