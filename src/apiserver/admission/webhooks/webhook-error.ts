import { goQuote, type JsonObject, StatusError, type StatusReason } from '#machinery';

/** The call failed or its response is invalid: the failure policy applies. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';

  constructor(webhook: string, reason: string, options?: ErrorOptions) {
    super(`failed calling webhook ${goQuote(webhook)}: ${shortened(reason)}`, options);
  }
}

/** The error for a request that a webhook denied. */
export function webhookRejection(webhook: string, result: JsonObject | undefined): StatusError {
  const { code = 0, message = '', reason = '', details } = (result ?? {}) as Record<string, unknown>;
  const denied = `admission webhook ${goQuote(webhook)} denied the request`;
  const detail = message || reason;
  return new StatusError({
    code: isErrorCode(code) ? code : 400,
    // Webhooks may use custom reasons.
    reason: (typeof reason === 'string' ? reason : '') as StatusReason,
    message: detail ? `${denied}: ${shortened(String(detail))}` : `${denied} without explanation`,
    ...(typeof details === 'object' && details !== null && { details }),
  });
}

/** Only error codes: with a success code clients would assume that the object was written. */
function isErrorCode(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 999;
}

/** The limit of webhook texts in responses, logs and events. */
const MAX_TEXT = 32 * 1024;

export function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

/** Webhooks with side effects are not called for dry runs. */
export function dryRunUnsupported(webhook: string): StatusError {
  return StatusError.badRequest(`admission webhook ${goQuote(webhook)} does not support dry run`);
}
