import type { certificatesV1beta1 } from '#api';
import { FieldError, goQuote, type JsonValue, Path, parseTime, StatusError, semanticEqual } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { isAllowedForSigner } from './certificate-request.ts';
import type { PluginDeps } from './plugin-deps.ts';

type Request = certificatesV1beta1.PodCertificateRequest;

const GROUP = 'certificates.k8s.io';
const MAX_SKEW = 5 * 60_000;

/**
 * Answering a PodCertificateRequest requires `sign` on its signer, and a certificate that begins now. Upstream checks this during
 * validation, so violations are field errors.
 */
export function podCertificateSigning({ authorizer, clock }: PluginDeps & { readonly authorizer: Authorizer }): AdmissionPlugin {
  return {
    name: 'PodCertificateSigning',
    operations: ['UPDATE'],
    resources: [`podcertificaterequests.${GROUP}`],
    async validate({ object, oldObject, subresource, resource, user }) {
      if (resource.group !== GROUP || resource.resource !== 'podcertificaterequests' || subresource !== 'status') return;
      const { status, metadata } = object as Request;
      const { status: old, spec } = oldObject as Request;
      if (semanticEqual((status ?? {}) as JsonValue, (old ?? {}) as JsonValue)) return;
      const signerName = spec?.signerName ?? '';
      const isAllowed = await isAllowedForSigner(authorizer, { user, verb: 'sign', signerName });
      const errors = [
        ...(isAllowed ? [] : [signerError(user.name, signerName)]),
        ...(isWithinSkew(status?.notBefore, clock.now()) ? [] : [timeError(status?.notBefore)]),
      ];
      if (errors.length > 0) throw StatusError.invalid({ group: GROUP, kind: resource.kind }, metadata.name, errors);
    },
  };
}

function isWithinSkew(time: string | undefined, now: number): boolean {
  return time === undefined || Math.abs(parseTime(time) - now) < MAX_SKEW;
}

function signerError(user: string, signer: string): FieldError {
  const detail = `User ${goQuote(user)} is not permitted to "sign" for signer ${goQuote(signer)}`;
  return FieldError.forbidden(Path.of('spec', 'signerName'), detail);
}

function timeError(time: string | undefined): FieldError {
  const detail = "must be set to within 5 minutes of kube-apiserver's current time";
  return FieldError.invalid(Path.of('status', 'notBefore'), time, detail);
}
