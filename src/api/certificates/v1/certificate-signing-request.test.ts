import { describe, expect, test } from 'vitest';
import { certificateSigningRequestBehaviour } from './certificate-signing-request.behaviour.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from './certificate-signing-request.ts';
import { validateCertificateSigningRequestApproval } from './certificate-signing-request.validation.ts';

const behaviour = certificateSigningRequestBehaviour as Required<typeof certificateSigningRequestBehaviour>;
// An elliptic key's request for CN=alice, signed, in PEM.
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ISUNBUUF3RURFT01Bd0dBMVVFQXd3RllXeHBZMlV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFSNVJ0TnNnMjQ5VXFCTTNER0dxSUlYWnpUSzM0Y01xR08wWnUvK1hheDVSK2llZEFTaFVuaEZuOWJCCk1hTms2Mk15NmxrekNzMCszRXpzcEs0MDV4Zk9vQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQU44UU9OdCsKS0VmNEQ5TU10VUlTeVZZYnJGYThFaVVaRStxODkwY3dZZDMvQWlFQXVlcTdlWTN6V3FpZ0wzcFZOUTU1d2hOdwpFTlQ4cE1TQlRJRnloSmx3aUQwPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const encoded = (text: string) => Buffer.from(text).toString('base64');

function request(spec: object, conditions: readonly object[] = []): CertificateSigningRequest {
  const status = conditions.length === 0 ? {} : { status: { conditions: conditions as readonly CertificateSigningRequestCondition[] } };
  return {
    metadata: { name: 'a' },
    spec: { request: REQUEST, signerName: 'example.com/signer', usages: ['client auth'], ...spec },
    ...status,
  };
}

const errorsOf = (spec: object) => behaviour.validate(request(spec)).map(String);

test('a CertificateSigningRequest with a signed PEM request is valid', () => {
  expect(errorsOf({})).toEqual([]);
});

test.each<[string, object, readonly string[]]>([
  [
    'that is no PEM',
    { request: encoded('hello') },
    ['spec.request: Invalid value: "aGVsbG8=": PEM block type must be CERTIFICATE REQUEST'],
  ],
  ['that is missing', { request: undefined }, ['spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST']],
  [
    'in armour around no base64',
    { request: encoded('-----BEGIN CERTIFICATE REQUEST-----\n***\n-----END CERTIFICATE REQUEST-----\n') },
    [
      'spec.request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KKioqCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=": PEM block type must be CERTIFICATE REQUEST',
    ],
  ],
  [
    'that is PEM of something else',
    { request: encoded('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') },
    [
      'spec.request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=": PEM block type must be CERTIFICATE REQUEST',
    ],
  ],
  [
    'that is no request inside',
    { request: encoded('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n') },
    [
      `spec.request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K": asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) {optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false} certificateRequest @2`,
    ],
  ],
  [
    'whose signature is not its own',
    {
      request: encoded(
        Buffer.from(REQUEST, 'base64')
          .toString()
          .replace(/.{8}(?=[=\n]*-----END)/s, (end) => (end[0] === 'A' ? `B${end.slice(1)}` : `A${end.slice(1)}`)),
      ),
    },
    [
      'spec.request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ISUNBUUF3RURFT01Bd0dBMVVFQXd3RllXeHBZMlV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFSNVJ0TnNnMjQ5VXFCTTNER0dxSUlYWnpUSzM0Y01xR08wWnUvK1hheDVSK2llZEFTaFVuaEZuOWJCCk1hTms2Mk15NmxrekNzMCszRXpzcEs0MDV4Zk9vQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQU44UU9OdCsKS0VmNEQ5TU10VUlTeVZZYnJGYThFaVVaRStxODkwY3dZZDMvQWlFQXVlcTdlWTN6V3FpZ0wzcFZOUTU1d2hOdwpFTlQ4cE1TQlRJRkFoSmx3aUQwPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K": x509: ECDSA verification failure',
    ],
  ],
  ['without usages', { usages: [] }, ['spec.usages: Required value']],
  [
    'with unknown usages, and some twice',
    { usages: ['flying', 'client auth', 'client auth'] },
    [
      'spec.usages[0]: Unsupported value: "flying": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"',
      'spec.usages[2]: Duplicate value: "client auth"',
    ],
  ],
  ['without a signer', { signerName: '' }, ['spec.signerName: Required value']],
  [
    'with a signer without a domain',
    { signerName: 'signer' },
    ['spec.signerName: Invalid value: "signer": must be a fully qualified domain and path of the form \'example.com/signer-name\''],
  ],
  [
    'with a signer of a bad domain',
    { signerName: 'Example/Signer_' },
    [
      "spec.signerName: Invalid value: \"Example\": validating label \"Example\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      'spec.signerName: Invalid value: "Example": should be a domain with at least two segments separated by dots',
      "spec.signerName: Invalid value: \"Signer_\": validating label \"Signer_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    'for too short',
    { expirationSeconds: 599 },
    ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
  ],
])('a request %s', (_, spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

describe('approval and denial', () => {
  const APPROVED = { type: 'Approved', status: 'True', reason: 'Yes' };
  test.each<[string, readonly object[], readonly object[], readonly string[]]>([
    ['may be given', [APPROVED], [], []],
    [
      'are true',
      [{ ...APPROVED, status: 'False' }],
      [],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [
      'exclude each other',
      [APPROVED, { type: 'Denied', status: 'True' }],
      [],
      ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    ['are given once', [APPROVED, APPROVED], [], ['status.conditions[1].type: Duplicate value: "Approved"']],
    ['stay', [], [APPROVED], ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"']],
    ['have a type', [{ type: '', status: 'True' }], [], ['status.conditions[0].type: Required value']],
  ])('%s', (_, conditions, old, errors) => {
    expect(validateCertificateSigningRequestApproval(request({}, conditions), request({}, old)).map(String)).toEqual(errors);
  });

  test('are not for the status to change', () => {
    expect(behaviour.validateStatusUpdate(request({}, [APPROVED]), request({})).map(String)).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
  });
});

test('status.certificate is a PEM certificate, immutable, and excludes the condition Failed', () => {
  const withStatus = (status: object): CertificateSigningRequest => ({ ...request({}), status });
  const pem = (text: string) => ({ certificate: encoded(text) });
  expect(behaviour.validateStatusUpdate(withStatus(pem('nonsense')), request({})).map(String)).toEqual([
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ]);
  expect(behaviour.validateStatusUpdate(withStatus(pem('b')), withStatus(pem('a'))).map(String)).toEqual([
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ]);
});

test.each<[string, readonly object[], string]>([
  ['nobody looked at it', [], 'Pending'],
  ['it was approved', [{ type: 'Approved', status: 'True' }], 'Approved'],
  ['it was denied', [{ type: 'Denied', status: 'True' }], 'Denied'],
  [
    'it failed',
    [
      { type: 'Approved', status: 'True' },
      { type: 'Failed', status: 'True' },
    ],
    'Approved,Failed',
  ],
])('prints that %s', (_, conditions, state) => {
  expect(behaviour.table.cells(request({ username: 'alice', expirationSeconds: 3600 }, conditions), 0)).toEqual([
    'a',
    '<unknown>',
    'example.com/signer',
    'alice',
    '60m',
    state,
  ]);
});
