import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createAuthority, createCertificateRequest, decodePem, loadAuthority, seededRandom, signCertificate } from '#base';
import { formatTime } from '#machinery';
import { podCertificateRequestBehaviour } from './pod-certificate-request.behaviour.ts';
import type { PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus } from './pod-certificate-request.ts';

const requests = podCertificateRequestBehaviour as Required<typeof podCertificateRequestBehaviour>;
const random = seededRandom('pod certificates');
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const stubOf = (key: KeyObject) => {
  const pem = createCertificateRequest(key, { subject: { commonName: '' } });
  return Buffer.from(decodePem('CERTIFICATE REQUEST', pem) ?? []).toString('base64');
};
const publicKeyOf = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');

const request = (spec: Partial<PodCertificateRequestSpec> = {}, status: PodCertificateRequestStatus = {}): PodCertificateRequest =>
  requests.defaults({
    metadata: { name: 'r', namespace: 'ns' },
    spec: {
      signerName: 'example.com/signer',
      ...{ podName: 'p', podUID: 'p-uid', serviceAccountName: 's', serviceAccountUID: 's-uid', nodeName: 'n', nodeUID: 'n-uid' },
      stubPKCS10Request: stubOf(privateKey),
      ...spec,
    },
    status,
  });

describe('a request for the certificate of a pod', () => {
  test('may be answered with a certificate of a day', () => {
    expect(request().spec.maxExpirationSeconds).toBe(86400);
  });

  const ed25519 = generateKeyPairSync('ed25519').privateKey;
  const byProof = (key: KeyObject, proof: Buffer) => ({
    stubPKCS10Request: null as never,
    pkixPublicKey: publicKeyOf(key),
    proofOfPossession: proof.toString('base64'),
  });

  test.each<[string, Partial<PodCertificateRequestSpec>, readonly string[]]>([
    ['with a stub', {}, []],
    ['with a key and its proof', byProof(ed25519, sign(null, Buffer.from('p-uid'), ed25519)), []],
    [
      'with the proof of another pod',
      byProof(ed25519, sign(null, Buffer.from('q-uid'), ed25519)),
      ['spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature'],
    ],
    [
      'with two keys',
      { pkixPublicKey: publicKeyOf(ed25519) },
      ['spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'],
    ],
    ['with a stub that is none', { stubPKCS10Request: 'AAAA' }, ['spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR']],
    [
      'with a small RSA key',
      { stubPKCS10Request: stubOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey) },
      ['spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096'],
    ],
    [
      'for too long, of a signer of Kubernetes',
      { signerName: 'kubernetes.io/kube-apiserver-client-pod', maxExpirationSeconds: 86401 },
      ['spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]'],
    ],
    [
      'for nobody',
      { podUID: '', unverifiedUserAnnotations: { plain: '' } },
      [
        'spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo")',
        'spec.podUID: Invalid value: "": must not be empty',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(requests.validate(request(spec)).map(String)).toEqual(errors);
  });
});

describe('the answer to a request', () => {
  const start = Date.UTC(2026, 0, 1);
  const hour = 60 * 60_000;
  const authority = loadAuthority(
    createAuthority({ subject: { commonName: 'ca' }, notBefore: start, notAfter: start + 100 * hour }, random),
  );
  const condition = (type: string, status = 'True') => ({
    ...{ type, status, reason: 'Because', message: '' },
    lastTransitionTime: formatTime(start),
  });
  const issued = (key: KeyObject, hours: number): PodCertificateRequestStatus => {
    const times = { notBefore: start, notAfter: start + hours * hour };
    const template = { subject: { commonName: 'p' }, publicKey: createPublicKey(key), ...times };
    return {
      conditions: [condition('Issued')],
      certificateChain: signCertificate(template as never, authority, random),
      notBefore: formatTime(times.notBefore),
      notAfter: formatTime(times.notAfter),
      beginRefreshAt: formatTime(times.notBefore + hour / 2),
    };
  };
  const validate = (status: PodCertificateRequestStatus, old: PodCertificateRequestStatus = {}) =>
    requests.validateStatusUpdate(request({}, status), request({}, old)).map((error) => String(error).replace(/"-----BEGIN.*\\n"/s, 'PEM'));

  test.each<[string, PodCertificateRequestStatus, readonly string[]]>([
    ['a certificate', issued(privateKey, 2), []],
    ['a denial', { conditions: [condition('Denied')] }, []],
    [
      'a certificate for another key',
      issued(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey, 2),
      ['status.certificateChain: Invalid value: PEM: leaf certificate was not issued to the requested public key'],
    ],
    [
      'a certificate that lasts longer than was asked for',
      issued(privateKey, 25),
      ['status.certificateChain: Invalid value: 25h0m0s: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)'],
    ],
    [
      'a certificate whose times are not told',
      { conditions: [condition('Issued')], certificateChain: issued(privateKey, 2).certificateChain! },
      [
        'status.notBefore: Required value: must be present and consistent with the issued certificate',
        'status.notAfter: Required value: must be present and consistent with the issued certificate',
        'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
      ],
    ],
    [
      'a denial with a certificate',
      { ...issued(privateKey, 2), conditions: [condition('Denied')] },
      ['status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest'],
    ],
    [
      'a condition of another kind',
      { conditions: [condition('Maybe')] },
      ['status.conditions.[0].type: Unsupported value: "Maybe": supported values: "Issued", "Denied", "Failed"'],
    ],
    [
      'a certificate without a verdict',
      { certificateChain: 'x' },
      ['status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
    ],
  ])('is %s', (_, status, errors) => {
    expect(validate(status)).toEqual(errors);
  });

  test('is given once', () => {
    expect(validate({ conditions: [condition('Failed')] }, { conditions: [condition('Denied')] })).toEqual([
      'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
    ]);
  });
});
