import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import type { AuthorizationAttributes } from '../../authz/authorizer.ts';
import { podCertificateSigning } from './pod-certificate-signing.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const authorizer = {
  authorize: async ({ user, verb, resource, name }: AuthorizationAttributes) => {
    const isSigner = user.name === 'signer' && verb === 'sign' && resource === 'signers' && name === 'example.com/s';
    return { verdict: isSigner ? ('allow' as const) : ('deny' as const), reason: '' };
  },
};

function answer(user: string, notBefore: string) {
  const { validate } = podCertificateSigning({ authorizer, clock: new VirtualClock({ startMs: NOW }) } as never);
  const request = { metadata: { name: 'r' }, spec: { signerName: 'example.com/s' } };
  const attributes = {
    ...{ operation: 'UPDATE', subresource: 'status', name: 'r', namespace: 'ns', user: { name: user, groups: [] } },
    resource: { group: 'certificates.k8s.io', resource: 'podcertificaterequests', kind: 'PodCertificateRequest' },
    ...{ object: { ...request, status: { notBefore } }, oldObject: { ...request, status: {} } },
  };
  return Promise.resolve(validate?.(attributes as never)).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test.each([
  ['signer', '2030-01-01T00:04:00Z', undefined],
  [
    'jane',
    '2030-01-01T00:00:00Z',
    'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "jane" is not permitted to "sign" for signer "example.com/s"',
  ],
  [
    'signer',
    '2030-01-01T01:00:00Z',
    'PodCertificateRequest.certificates.k8s.io "r" is invalid: status.notBefore: Invalid value: "2030-01-01T01:00:00Z": must be set to within 5 minutes of kube-apiserver\'s current time',
  ],
])('%s answers with a certificate from %s on', async (user, notBefore, message) => {
  expect(await answer(user, notBefore)).toBe(message);
});
