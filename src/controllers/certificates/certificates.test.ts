import { createPublicKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type AlternativeNames,
  createAuthority,
  createCertificateRequest,
  loadAuthority,
  newPrivateKey,
  type Subject,
  seededRandom,
} from '#base';
import { issueCertificate } from './issue-certificate.ts';
import { approvalRules, isOutdated, lifetimeMs, signingAction } from './reconcile.ts';
import { requestedCertificate, SIGNERS, type SigningRequest } from './signing-request.ts';

const HOUR = 3_600_000;
const now = Date.UTC(2026, 0, 1);
const random = seededRandom('certificates');
const NODE = { commonName: 'system:node:n', organizations: ['system:nodes'] };
const CLIENT = ['digital signature', 'client auth'];
const SERVING = ['digital signature', 'key encipherment', 'server auth'];

interface RequestOptions extends AlternativeNames {
  readonly subject?: Subject;
  readonly usages?: readonly string[];
  readonly signer?: string;
  readonly username?: string;
  readonly conditions?: readonly string[];
  readonly expirationSeconds?: number;
}

const key = newPrivateKey();

function request(options: RequestOptions = {}): SigningRequest {
  const {
    subject = NODE,
    usages = CLIENT,
    signer = SIGNERS.kubeletClient,
    username = 'someone',
    conditions = [],
    expirationSeconds,
  } = options;
  const pem = createCertificateRequest(key, { ...options, subject });
  return {
    metadata: { name: 'r', creationTimestamp: new Date(now).toISOString() },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signer,
      usages,
      username,
      ...(expirationSeconds && { expirationSeconds }),
    },
    status: { conditions: conditions.map((type) => ({ type, status: 'True', lastUpdateTime: new Date(now).toISOString() })) },
  } as SigningRequest;
}

const ALL = new Set<string>(Object.values(SIGNERS));
const servingRequest = { usages: SERVING, signer: SIGNERS.kubeletServing };

describe('approving', () => {
  it('takes one right for a kubelet, and another when it asks for itself', () => {
    expect(approvalRules(request()).map(({ right }) => right.subresource)).toEqual(['nodeclient']);
    expect(approvalRules(request({ username: 'system:node:n' })).map(({ right }) => right.subresource)).toEqual([
      'selfnodeclient',
      'nodeclient',
    ]);
  });

  it.each<[string, RequestOptions]>([
    ['for another signer', { signer: SIGNERS.apiServerClient }],
    ['that is decided', { conditions: ['Denied'] }],
    ['in another group', { subject: { ...NODE, organizations: ['system:masters'] } }],
    ['in more than one group', { subject: { ...NODE, organizations: ['system:nodes', 'system:masters'] } }],
    ['for what is no node', { subject: { ...NODE, commonName: 'admin' } }],
    ['with a name to serve under', { dnsNames: ['n'] }],
    ['with an address to serve under', { ipAddresses: ['192.0.2.1'] }],
    ['for other uses', { usages: [...CLIENT, 'server auth'] }],
    ['for too few uses', { usages: ['client auth'] }],
  ])('is left to people for a request %s', (_, options) => {
    expect(approvalRules(request(options))).toEqual([]);
  });
});

describe('signing', () => {
  const approved = { conditions: ['Approved'] };
  it.each<[string, RequestOptions, string]>([
    ['a request that nobody approved', {}, 'none'],
    ['a denied one', { conditions: ['Approved', 'Denied'] }, 'none'],
    ['a failed one', { conditions: ['Approved', 'Failed'] }, 'none'],
    ['one for a signer of somebody else', { ...approved, signer: 'example.com/signer' }, 'none'],
    ['an approved one', approved, 'sign'],
    ['one with RSA in mind', { ...approved, usages: ['client auth', 'digital signature', 'key encipherment'] }, 'sign'],
    ['one for serving', { ...approved, ...servingRequest, dnsNames: ['n'] }, 'sign'],
    ['one of anything, for the signer of old', { ...approved, signer: SIGNERS.legacyUnknown, usages: ['code signing'] }, 'sign'],
    ['one of a client', { ...approved, signer: SIGNERS.apiServerClient, usages: ['client auth'] }, 'sign'],
    ['one for serving without a name', { ...approved, ...servingRequest }, 'DNS or IP subjectAltName is required'],
    [
      'one for serving with a mail address',
      { ...approved, ...servingRequest, dnsNames: ['n'], emails: ['a@b'] },
      'Email subjectAltNames are not allowed',
    ],
    [
      'one for serving by what is no node',
      { ...approved, ...servingRequest, dnsNames: ['n'], subject: { ...NODE, commonName: 'n' } },
      'subject common name does not begin with system:node:',
    ],
    ['one of a kubelet with a name', { ...approved, dnsNames: ['n'] }, 'DNS subjectAltNames are not allowed'],
    [
      'one of a kubelet for other uses',
      { ...approved, usages: ['server auth'] },
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [
      'one of a client for other uses',
      { ...approved, signer: SIGNERS.apiServerClient, usages: ['client auth', 'cert sign'] },
      'invalid usage for client certificate: cert sign',
    ],
    [
      'one of a client for no use',
      { ...approved, signer: SIGNERS.apiServerClient, usages: ['digital signature'] },
      'missing required usage for client certificate: client auth',
    ],
  ])('%s: %s', (_, options, expected) => {
    const action = signingAction(request(options), ALL);
    expect(action.type === 'fail' ? action.message : action.type).toBe(expected);
  });

  it('leaves alone what it has no key for', () => {
    expect(signingAction(request(approved), new Set([SIGNERS.kubeletServing]))).toEqual({ type: 'none' });
  });

  it.each([
    [undefined, 24 * HOUR],
    [7200, 2 * HOUR],
    [60, HOUR / 6],
    [999_999_999, 24 * HOUR],
  ])('for %s seconds lasts what was asked, within limits', (expirationSeconds, expected) => {
    expect(lifetimeMs(request(expirationSeconds === undefined ? {} : { expirationSeconds }), 24 * HOUR)).toBe(expected);
  });
});

describe('an issued certificate', () => {
  const root = createAuthority({ subject: { commonName: 'ca' }, notBefore: now, notAfter: now + 48 * HOUR }, random);
  const authority = loadAuthority(root);
  const issue = (options: RequestOptions, life: number, at = now) => {
    const requested = requestedCertificate(request(options));
    return new X509Certificate(
      issueCertificate(requested, authority, { usages: options.usages ?? CLIENT, lifetimeMs: life, now: at, random }),
    );
  };

  it('has the names and uses that were asked for, and never the right to sign', () => {
    const certificate = issue({ ...servingRequest, dnsNames: ['n'], ipAddresses: ['192.0.2.1'] }, 24 * HOUR);
    expect(certificate.verify(new X509Certificate(root.certificate).publicKey)).toBe(true);
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n');
    expect(certificate.subjectAltName).toBe('DNS:n, IP Address:192.0.2.1');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.equals(createPublicKey(key))).toBe(true);
  });

  it('begins a little earlier, and ends no later than its authority', () => {
    const short = issue({}, HOUR);
    expect(Date.parse(short.validFrom)).toBe(now - 300_000);
    expect(Date.parse(short.validTo)).toBe(now + HOUR);
    expect(Date.parse(issue({}, 24 * HOUR).validTo)).toBe(now + 24 * HOUR - 300_000);
    expect(Date.parse(issue({}, 96 * HOUR).validTo)).toBe(now + 48 * HOUR);
  });

  it('is not signed by an expired authority, or for unknown usages', () => {
    expect(() => issue({}, HOUR, now + 49 * HOUR)).toThrow(/expired/);
    expect(() => issue({ usages: ['fly'] }, HOUR)).toThrow('unrecognized usage values: fly');
  });

  it('is not made for a key that the request was not signed with', () => {
    const good = request();
    const pem = Buffer.from(good.spec.request, 'base64').toString('utf8');
    const lines = pem.split('\n');
    const last = lines.length - 3;
    lines[last] = lines[last]!.replace(/^(.{8})./, (_, head: string) => `${head}${lines[last]![8] === 'A' ? 'B' : 'A'}`);
    const bad = { ...good, spec: { ...good.spec, request: Buffer.from(lines.join('\n')).toString('base64') } };
    const options = { usages: CLIENT, lifetimeMs: HOUR, now, random };
    expect(() => issueCertificate(requestedCertificate(good), authority, options)).not.toThrow();
    expect(() => issueCertificate(requestedCertificate(bad), authority, options)).toThrow('x509: ECDSA verification failure');
  });
});

describe('cleaning', () => {
  const issued = (() => {
    const root = loadAuthority(createAuthority({ subject: { commonName: 'ca' }, notBefore: now, notAfter: now + 48 * HOUR }, random));
    const pem = issueCertificate(requestedCertificate(request()), root, { usages: CLIENT, lifetimeMs: HOUR / 2, now, random });
    return Buffer.from(pem).toString('base64');
  })();
  const withCertificate = (conditions: readonly string[], certificate: string) => {
    const plain = request({ conditions });
    return { ...plain, status: { ...plain.status, certificate } } as SigningRequest;
  };
  it.each<[string, SigningRequest, number, boolean]>([
    ['pending for a while', request(), 23, false],
    ['pending for a day', request(), 25, true],
    ['denied just now', request({ conditions: ['Denied'] }), 0.9, false],
    ['denied an hour ago', request({ conditions: ['Denied'] }), 1.1, true],
    ['failed an hour ago', request({ conditions: ['Failed'] }), 1.1, true],
    ['approved, waiting for a signer', request({ conditions: ['Approved'] }), 23, false],
    ['approved, never signed', request({ conditions: ['Approved'] }), 25, true],
    ['issued just now', withCertificate(['Approved'], issued), 0.4, false],
    ['issued, and expired', withCertificate(['Approved'], issued), 0.6, true],
    ['issued an hour ago', withCertificate(['Approved'], 'eA=='), 1.1, true],
    ['issued just now, with what nobody can read', withCertificate(['Approved'], 'eA=='), 0.9, false],
  ])('a request that is %s', (_, object, hours, expected) => {
    expect(isOutdated(object, now + hours * HOUR)).toBe(expected);
  });
});
