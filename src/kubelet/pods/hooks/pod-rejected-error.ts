import type { PodRejection } from '../../status/pod-status.ts';

/** What a hook throws when the pod can never start on this node: the pod fails with the reason. */
export class PodRejectedError extends Error {
  override readonly name = 'PodRejectedError';

  constructor(readonly rejection: PodRejection) {
    super(rejection.message);
  }
}
