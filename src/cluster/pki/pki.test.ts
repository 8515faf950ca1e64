import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '#base';
import { CLIENTS, createClientCertificate, createPki, nodeSubject, renewalTime, renewedCertificates } from './pki.ts';

const DAY = 24 * 3_600_000;
const now = Date.UTC(2026, 0, 1);
const options = { names: { dnsNames: ['api.example.com'], ipAddresses: ['192.0.2.7', '10.96.0.1'] }, now, random: seededRandom('pki') };
const pki = await createPki(options);
const { serviceAccountKey: _key, ...certificates } = pki;
const authority = new X509Certificate(pki.authority.certificate);

describe('a new cluster', () => {
  it('has an API server that is known under all its names', () => {
    const serving = new X509Certificate(pki.serving.certificate);
    for (const name of ['kubernetes', 'kubernetes.default.svc.cluster.local', 'localhost', 'api.example.com']) {
      expect(serving.checkHost(name)).toBe(name);
    }
    for (const ip of ['127.0.0.1', '::1', '192.0.2.7', '10.96.0.1']) expect(serving.checkIP(ip)).toBe(ip);
    expect(serving.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it.each(Object.entries(CLIENTS))('has a certificate for %s, signed by the authority, with its key', (name, subject) => {
    const pair = pki.clients[name as keyof typeof CLIENTS];
    const certificate = new X509Certificate(pair.certificate);
    expect(certificate.subject).toContain(`CN=${subject.commonName}`);
    expect(certificate.checkIssued(authority)).toBe(true);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('signs tokens with an RSA key', () => {
    expect(createPrivateKey(pki.serviceAccountKey).asymmetricKeyDetails?.modulusLength).toBe(2048);
  });
});

describe('renewal', () => {
  it('keeps everything while it is good', () => {
    expect(renewedCertificates(certificates, { ...options, now: now + 100 * DAY })).toEqual(certificates);
  });

  it('replaces certificates in time, under the same authority', () => {
    const later = renewedCertificates(certificates, { ...options, now: renewalTime(pki) + DAY });
    expect(later.authority).toEqual(pki.authority);
    expect(later.serving).not.toEqual(pki.serving);
    expect(later.clients.admin).not.toEqual(pki.clients.admin);
    expect(new X509Certificate(later.serving.certificate).verify(authority.publicKey)).toBe(true);
  });

  it('replaces the authority, and all it signed, before it ends', () => {
    const later = renewedCertificates(certificates, { ...options, now: now + 10 * 365 * DAY - DAY });
    const next = new X509Certificate(later.authority.certificate);
    expect(next.fingerprint256).not.toBe(authority.fingerprint256);
    expect(new X509Certificate(later.clients.scheduler.certificate).verify(next.publicKey)).toBe(true);
  });

  it('replaces only the serving certificate when the server gets another name', () => {
    const renamed = renewedCertificates(certificates, { ...options, names: { dnsNames: ['other.example.com'] } });
    expect(new X509Certificate(renamed.serving.certificate).checkHost('other.example.com')).toBe('other.example.com');
    expect(renamed.clients).toEqual(pki.clients);
  });

  it('never lets a certificate outlive its authority', () => {
    const late = { now: now + 10 * 365 * DAY - 30 * DAY, random: options.random };
    const { certificate } = createClientCertificate(nodeSubject('n'), pki.authority, late);
    expect(new X509Certificate(certificate).validTo).toBe(authority.validTo);
    expect(new X509Certificate(certificate).subject).toBe('O=system:nodes\nCN=system:node:n');
  });
});
