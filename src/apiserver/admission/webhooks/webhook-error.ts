import { goQuote, type JsonObject, StatusError, type StatusReason } from '#machinery';

/** The webhook could not be asked, or its answer makes no sense: the failure policy decides what follows. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';

  constructor(webhook: string, reason: string, options?: ErrorOptions) {
    super(`failed calling webhook ${goQuote(webhook)}: ${reason}`, options);
  }
}

/** What a client gets when a webhook says no. */
export function webhookRejection(webhook: string, result: JsonObject | undefined): StatusError {
  const { code = 0, message = '', reason = '', details } = (result ?? {}) as Record<string, unknown>;
  const denied = `admission webhook ${goQuote(webhook)} denied the request`;
  const why = message || reason;
  return new StatusError({
    code: typeof code === 'number' && code >= 400 ? code : 400,
    // Webhooks may give reasons of their own.
    reason: (typeof reason === 'string' ? reason : '') as StatusReason,
    message: why ? `${denied}: ${String(why)}` : `${denied} without explanation`,
    ...(typeof details === 'object' && details !== null && { details }),
  });
}

/** Without a promise to leave no traces, a webhook is not asked about what will not happen. */
export function dryRunUnsupported(webhook: string): StatusError {
  return StatusError.badRequest(`admission webhook ${goQuote(webhook)} does not support dry run`);
}
