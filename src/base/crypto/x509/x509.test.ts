import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../random.ts';
import {
  createAuthority,
  createCertificateRequest,
  decodePem,
  encodePem,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  readCertificateRequest,
  signCertificate,
} from './index.ts';

const random = seededRandom('x509');
const start = Date.UTC(2026, 0, 1);
const end = Date.UTC(2036, 0, 1);
const root = createAuthority({ subject: { commonName: 'kubernetes' }, notBefore: start, notAfter: end }, random);

function keyOf(type: 'P-256' | 'P-384' | 'P-521' | 'RSA' | 'Ed25519'): KeyObject {
  if (type === 'RSA') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  if (type === 'Ed25519') return generateKeyPairSync('ed25519').privateKey;
  return generateKeyPairSync('ec', { namedCurve: type }).privateKey;
}

describe('an authority', () => {
  it('vouches for itself', () => {
    const certificate = new X509Certificate(root.certificate);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe('CN=kubernetes');
    expect(Date.parse(certificate.validTo)).toBe(end);
  });

  it('is refused with the key of another', () => {
    expect(() => loadAuthority({ ...root, key: privateKeyPem(newPrivateKey()) })).toThrow(/does not belong/);
  });

  it('encodes times beyond 2049, for which two digits of the year are too few', () => {
    const late = createAuthority({ subject: { commonName: 'late' }, notBefore: start, notAfter: Date.UTC(2080, 5, 1) }, random);
    expect(Date.parse(new X509Certificate(late.certificate).validTo)).toBe(Date.UTC(2080, 5, 1));
  });
});

describe('a certificate', () => {
  it.each(['P-256', 'P-384', 'P-521', 'RSA', 'Ed25519'] as const)('is verified by what it was signed with, a key of %s', (type) => {
    const authorityKey = keyOf(type);
    const authority = { privateKey: authorityKey, name: loadAuthority(root).name, keyId: Buffer.alloc(20, 7), notAfter: end };
    const publicKey = createPublicKey(newPrivateKey());
    const pem = signCertificate({ subject: { commonName: 'x' }, publicKey, notBefore: start, notAfter: end }, authority, random);
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(createPublicKey(authorityKey))).toBe(true);
    expect(certificate.verify(createPublicKey(keyOf(type)))).toBe(false);
  });

  it('names its holder, its issuer, its uses and all its addresses', () => {
    const template = {
      subject: { commonName: 'kube-apiserver', organizations: ['a', 'ü'] },
      publicKey: createPublicKey(newPrivateKey()),
      notBefore: start,
      notAfter: end,
      keyUsages: ['digitalSignature', 'keyEncipherment'] as const,
      extendedKeyUsages: ['serverAuth', 'clientAuth'] as const,
      dnsNames: ['kubernetes', 'kubernetes.default.svc'],
      ipAddresses: ['10.96.0.1', 'fd00::1', '::1'],
      uris: ['spiffe://a/b'],
      emails: ['a@example.com'],
    };
    const certificate = new X509Certificate(signCertificate(template, loadAuthority(root), random));
    expect(certificate.checkIssued(new X509Certificate(root.certificate))).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.subject).toBe('O=a\nO=ü\nCN=kube-apiserver');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(certificate.subjectAltName?.split(', ')).toEqual([
      'DNS:kubernetes',
      'DNS:kubernetes.default.svc',
      'email:a@example.com',
      'IP Address:10.96.0.1',
      'IP Address:FD00:0:0:0:0:0:0:1',
      'IP Address:0:0:0:0:0:0:0:1',
      'URI:spiffe://a/b',
    ]);
    expect(certificate.checkIP('fd00::1')).toBe('fd00::1');
  });

  it('is not made for what is no address', () => {
    const template = { subject: { commonName: 'x' }, publicKey: createPublicKey(newPrivateKey()), notBefore: start, notAfter: end };
    expect(() => signCertificate({ ...template, ipAddresses: ['nowhere'] }, loadAuthority(root), random)).toThrow(/not an IP address/);
  });
});

describe('a request', () => {
  it('is read as it was written', () => {
    const key = newPrivateKey();
    const pem = createCertificateRequest(key, {
      subject: { commonName: 'system:node:n', organizations: ['system:nodes'] },
      dnsNames: ['n'],
      ipAddresses: ['192.0.2.1', '2001:db8::1'],
    });
    const request = readCertificateRequest(pem);
    expect(request).toMatchObject({
      subject: { commonName: 'system:node:n', organizations: ['system:nodes'] },
      dnsNames: ['n'],
      ipAddresses: ['192.0.2.1', '2001:db8::1'],
      emails: [],
      uris: [],
    });
    expect(request.publicKey.equals(createPublicKey(key))).toBe(true);
  });

  it('may ask for no names', () => {
    const request = readCertificateRequest(createCertificateRequest(newPrivateKey(), { subject: { commonName: 'x' } }));
    expect(request).toMatchObject({ subject: { commonName: 'x', organizations: [] }, dnsNames: [], ipAddresses: [] });
  });

  it.each([
    ['another kind of block', encodePem('CERTIFICATE', Buffer.from([0x30, 0]))],
    ['nothing', ''],
    ['a length beyond its end', encodePem('CERTIFICATE REQUEST', Buffer.from([0x30, 0x85, 1, 1, 1, 1, 1]))],
    ['an empty sequence', encodePem('CERTIFICATE REQUEST', Buffer.from([0x30, 0]))],
    ['a cut-off element', encodePem('CERTIFICATE REQUEST', Buffer.from([0x30, 5, 0x30]))],
  ])('is refused when it is %s', (_, pem) => {
    expect(() => readCertificateRequest(pem)).toThrow();
  });

  it('survives any change of a byte: it is read or refused, nothing else', () => {
    const good = decodePem(
      'CERTIFICATE REQUEST',
      createCertificateRequest(newPrivateKey(), { subject: { commonName: 'x' }, dnsNames: ['a'] }),
    )!;
    for (let i = 0; i < good.length; i++) {
      const bad = Buffer.from(good);
      bad[i] = bad[i]! ^ 0xff;
      try {
        readCertificateRequest(encodePem('CERTIFICATE REQUEST', bad));
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(RangeError);
      }
    }
  });
});
