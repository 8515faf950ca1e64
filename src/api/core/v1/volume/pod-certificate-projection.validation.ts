import { validateSignerName } from '../../../certificates/v1/certificate-signing-request.validation.ts';
import { maxLifetimeSeconds, validateUserAnnotations } from '../../../certificates/v1beta1/pod-certificate-request.validation.ts';
import type { FieldReport } from '../../../field-report.ts';
import { validateNonReservedPath } from './local-path.validation.ts';
import type { PodCertificateProjection } from './projected-volume-source.ts';

const KEY_TYPES: readonly string[] = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;
const MIN_SECONDS = 3600;

/** `claimPath` is called with each path: paths must be unique within the volume. */
export function validatePodCertificate(source: PodCertificateProjection, at: FieldReport, claimPath: (path: string) => void): void {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds, userAnnotations } = source;
  at.add(validateSignerName(at.child('signerName').path, signerName));
  if (userAnnotations) validateUserAnnotations(userAnnotations, at.child('userAnnotations'));
  if (!KEY_TYPES.includes(keyType)) at.child('keyType').notSupported(keyType, KEY_TYPES);
  const secondsAt = at.child('maxExpirationSeconds');
  const max = maxLifetimeSeconds(signerName);
  if (seconds !== undefined && seconds < MIN_SECONDS)
    secondsAt.invalid(seconds, `if provided, maxExpirationSeconds must be >= ${MIN_SECONDS}`);
  if (seconds !== undefined && seconds > max) secondsAt.invalid(seconds, `if provided, maxExpirationSeconds must be <= ${max}`);
  for (const field of PATHS) {
    const path = source[field];
    if (!path) continue;
    validateNonReservedPath(path, at.child(field));
    claimPath(path);
  }
  if (!PATHS.some((field) => source[field])) at.required('specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
}
