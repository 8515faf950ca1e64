import { mapMaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { RequestAuthorizer } from '../expressions/request-authorizer.ts';
import { configuresAdmission } from '../matching/admission-kind.ts';
import type { VersionedRequest } from '../matching/versioned-request.ts';
import type { Webhook } from './webhook.ts';
import { type WebhookContext, type WebhookDeps, webhookContext } from './webhook-context.ts';
import { WebhookCallError } from './webhook-error.ts';

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/';

/** Calls validating webhooks in parallel. */
export function validatingAdmissionWebhook(deps: WebhookDeps): AdmissionPlugin {
  const context = webhookContext(deps, 'validatingwebhookconfigurations');
  return {
    name: 'ValidatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      if (configuresAdmission(attributes)) return undefined;
      return mapMaybePromise(context.source.webhooks(), (webhooks) =>
        webhooks.length === 0 ? undefined : validate(attributes, webhooks, context),
      );
    },
  };
}

interface WebhookCall {
  readonly webhook: Webhook;
  readonly request: VersionedRequest;
}

async function validate(attributes: AdmissionAttributes, webhooks: readonly Webhook[], context: WebhookContext): Promise<void> {
  const authorizer = new RequestAuthorizer(context.authorizer, attributes);
  const calls: WebhookCall[] = [];
  for (const webhook of webhooks) {
    const request = await webhook.select(attributes, authorizer);
    if (request !== undefined) calls.push({ webhook, request });
  }
  const rejections = await Promise.all(calls.map((call, index) => callWebhook(call, index, context)));
  const rejection = rejections.find((error) => error !== undefined);
  if (rejection !== undefined) throw rejection;
}

/** The error of a request that the webhook rejects. */
async function callWebhook({ webhook, request }: WebhookCall, index: number, { caller }: WebhookContext): Promise<StatusError | undefined> {
  try {
    await caller.call(webhook, request, false);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    if (!(error instanceof WebhookCallError)) throw error;
    if (!webhook.failsOpen) return StatusError.internalError(error);
    request.attributes.audit?.annotate(`${FAILED_OPEN}round_0_index_${index}`, webhook.name);
    return undefined;
  }
}
