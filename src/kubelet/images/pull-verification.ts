/** As `imagePullCredentialsVerificationPolicy`, with `preloadedImagesVerificationAllowlist`. */
export interface PullVerification {
  readonly policy: VerificationPolicy;
  readonly allowlist: readonly string[];
}

export type VerificationPolicy = 'NeverVerify' | 'NeverVerifyPreloadedImages' | 'NeverVerifyAllowlistedImages' | 'AlwaysVerify';

/** Whether a pod must present credentials for a present image. `isPulledByKubelet`: false for preloaded images. Pure. */
export function requiresVerification({ policy, allowlist }: PullVerification, repository: string, isPulledByKubelet: boolean): boolean {
  switch (policy) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return isPulledByKubelet;
    case 'NeverVerifyAllowlistedImages':
      return !allowlist.some((pattern) => isAllowed(pattern, repository));
    case 'AlwaysVerify':
      return true;
  }
}

/** A repository, or all below a path: `example.com/team/*`. */
function isAllowed(pattern: string, repository: string): boolean {
  return pattern.endsWith('/*') ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern;
}
