import { type Clock, type Random, retry } from '#base';
import { StatusError } from '#machinery';
import type { KubeconfigWebhook } from './kubeconfig-webhook.ts';

export interface RetriedPostDeps {
  readonly webhook: Pick<KubeconfigWebhook, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** As upstream's token and authorization webhooks: half a second, increasing by half each time. */
const BACKOFF = { initialMs: 500, factor: 1.5, jitter: 0.2 };
const ATTEMPTS = 5;

/** Posts a review; retries when the service is unavailable or requests a retry. */
export function postRetried(body: unknown, { webhook, clock, random }: RetriedPostDeps, timeoutMs: number): Promise<unknown> {
  return retry({ clock, random, backoff: BACKOFF, attempts: ATTEMPTS, retryOn: isTemporaryFailure }, () =>
    webhook.post(body, { timeoutMs }),
  );
}

/** Whether a second try may succeed. */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof StatusError) return error.code === 429 || error.code >= 500;
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}
