import { mapMaybePromise } from '#base';
import {
  apiVersionOf,
  applyJsonPatch,
  deepEqual,
  goQuote,
  isJsonArray,
  JsonPatchError,
  type JsonPatchOperation,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
  StatusError,
} from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { RequestAuthorizer } from '../expressions/request-authorizer.ts';
import { InvokedHooks } from '../invoked-hooks.ts';
import { configuresAdmission } from '../matching/admission-kind.ts';
import { changedKind, readChanged } from '../matching/changed-kind.ts';
import { convertObject, type VersionedRequest } from '../matching/versioned-request.ts';
import type { ReviewResponse } from './admission-review.ts';
import type { Webhook } from './webhook.ts';
import { type WebhookContext, type WebhookDeps, webhookContext } from './webhook-context.ts';
import { shortened, WebhookCallError } from './webhook-error.ts';

const NAME = 'MutatingAdmissionWebhook';
const MUTATION = 'mutation.webhook.admission.k8s.io/';
const PATCH = 'patch.webhook.admission.k8s.io/';

/** Calls mutating webhooks in sequence; each one sees the changes of those before it. */
export function mutatingAdmissionWebhook(deps: WebhookDeps): AdmissionPlugin {
  const context = webhookContext(deps, 'mutatingwebhookconfigurations');
  return {
    name: NAME,
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    admit: (attributes) => {
      if (configuresAdmission(attributes)) return undefined;
      return mapMaybePromise(context.source.webhooks(), (webhooks) =>
        webhooks.length === 0 ? undefined : admit(attributes, webhooks, context),
      );
    },
  };
}

async function admit(attributes: AdmissionAttributes, webhooks: readonly Webhook[], context: WebhookContext): Promise<unknown> {
  const round = new Round(attributes, context);
  for (const [index, webhook] of webhooks.entries()) await round.call(webhook, index);
  return round.finish();
}

/** One round of webhooks over one request. */
class Round {
  readonly #attributes: AdmissionAttributes;
  readonly #context: WebhookContext;
  readonly #authorizer: RequestAuthorizer;
  readonly #invoked: InvokedHooks;
  #object: unknown;

  constructor(attributes: AdmissionAttributes, context: WebhookContext) {
    this.#attributes = attributes;
    this.#context = context;
    this.#object = attributes.object;
    this.#authorizer = new RequestAuthorizer(context.authorizer, attributes);
    this.#invoked = InvokedHooks.of(NAME, attributes);
  }

  async call(webhook: Webhook, index: number): Promise<void> {
    const request = await webhook.select({ ...this.#attributes, object: this.#object }, this.#authorizer);
    if (request === undefined || !this.#invoked.runs(webhook.key)) return;
    const place = `round_${this.#invoked.isSecondRound ? 1 : 0}_index_${index}`;
    try {
      const mutated = await this.#call(webhook, request, place);
      this.#annotate(`${MUTATION}${place}`, { configuration: webhook.configuration, webhook: webhook.name, mutated });
      if (mutated) this.#invoked.changed();
    } catch (error) {
      this.#annotate(`${MUTATION}${place}`, { configuration: webhook.configuration, webhook: webhook.name, mutated: false });
      this.#applyFailurePolicy(webhook, place, error);
    }
    if (webhook.runsAgain) this.#invoked.remember(webhook.key);
  }

  /** Failed calls are ignored under failure policy Ignore; all other errors reject the request. */
  #applyFailurePolicy(webhook: Webhook, place: string, error: unknown): void {
    if (!(error instanceof WebhookCallError)) throw error;
    if (!webhook.failsOpen) throw StatusError.internalError(error);
    this.#attributes.audit?.annotate(`failed-open.${MUTATION}${place}`, webhook.name);
    if (this.#attributes.signal?.aborted) throw StatusError.timeout('request did not complete within requested timeout', 0);
  }

  /** Whether the webhook changed the object. */
  async #call(webhook: Webhook, request: VersionedRequest, place: string): Promise<boolean> {
    const answer = await this.#context.caller.call(webhook, request, true);
    if (answer.patch.length === 0) return false;
    const operations = readPatch(webhook, answer);
    if (operations.length === 0) return false;
    const changed = patched(webhook, request, operations);
    const { configuration, name } = webhook;
    this.#attributes.audit?.annotateBody(`${PATCH}${place}`, () =>
      JSON.stringify({ configuration, webhook: name, patch: operations, patchType: 'JSONPatch' }),
    );
    const isChanged = !deepEqual(changed as unknown as JsonValue, request.object as unknown as JsonValue);
    this.#object = await this.#inRequestVersion(changed, request);
    return isChanged;
  }

  async #inRequestVersion(object: KubeObject, { match }: VersionedRequest): Promise<unknown> {
    const { resource, subresource } = this.#attributes;
    if (match.resource === resource) return object;
    const converted = await convertObject(object, { from: match.resource, to: resource, subresource });
    return { ...converted, apiVersion: apiVersionOf(resource), kind: resource.kind };
  }

  #annotate(key: string, value: object): void {
    this.#attributes.audit?.annotate(key, JSON.stringify(value));
  }

  finish(): unknown {
    this.#invoked.finish(this.#object);
    return this.#object;
  }
}

function readPatch({ name }: Webhook, { patch, patchType }: ReviewResponse): readonly JsonPatchOperation[] {
  if (patchType !== 'JSONPatch') throw new WebhookCallError(name, `unsupported patch type ${goQuote(patchType)}`);
  const undecodable = (detail: string) => new WebhookCallError(name, `received undecodable patch in webhook response: ${detail}`);
  try {
    const { value } = parseJson(patch);
    if (isJsonArray(value)) return value as unknown as readonly JsonPatchOperation[];
    throw undecodable('json: cannot unmarshal the patch into Go value of type jsonpatch.Patch');
  } catch (error) {
    throw error instanceof JsonSyntaxError ? undecodable(error.message) : error;
  }
}

function patched({ name }: Webhook, { object, match }: VersionedRequest, operations: readonly JsonPatchOperation[]): KubeObject {
  const kind = changedKind(match);
  if (object === null || kind === undefined) {
    const detail = 'attempted to modify the object, which is not supported for this operation';
    throw StatusError.internalError(new Error(`admission webhook ${goQuote(name)} ${detail}`));
  }
  try {
    const changed = readChanged(kind, applyJsonPatch(object as unknown as JsonValue, operations), false);
    checkSameKind(name, object, changed);
    return changed;
  } catch (error) {
    throw error instanceof JsonPatchError ? StatusError.internalError(new Error(shortened(error.message), { cause: error })) : error;
  }
}

/** A webhook must not change the kind: the object is stored under the request's resource. */
function checkSameKind(webhook: string, before: Partial<KubeObject>, after: KubeObject): void {
  if (before.kind === after.kind && before.apiVersion === after.apiVersion) return;
  throw StatusError.internalError(new Error(`admission webhook ${goQuote(webhook)} attempted to change the kind of the object`));
}
