import { createPublicKey, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../random.ts';
import { createAuthority, loadAuthority, newPrivateKey, readCertificateSubject, signCertificate } from './certificate.ts';
import { checkRequestSignature, createCertificateRequest, readCertificateRequest } from './certificate-request.ts';
import { contextTag, der, integer, oid, sequence, TAG } from './der.ts';
import { encodePem } from './pem.ts';
import { signed } from './signature.ts';

const ORGANIZATION = '2.5.4.10';
const UNIVERSAL_STRING = 0x1c;
const random = seededRandom('certificate-request');
const notBefore = Date.UTC(2026, 0, 1);
const notAfter = Date.UTC(2036, 0, 1);
const authority = loadAuthority(createAuthority({ subject: { commonName: 'ca' }, notBefore, notAfter }, random));
const key = newPrivateKey();

function attribute(type: string, tag: number, value: Uint8Array): Buffer {
  return der(TAG.set, sequence(oid(type), der(tag, value)));
}

function requestOf(...attributes: readonly Buffer[]): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const content = sequence(integer(Buffer.from([0])), sequence(...attributes), publicKey, der(contextTag(0, true)));
  return encodePem('CERTIFICATE REQUEST', signed(content, key));
}

/** Signs the requested certificate, like a signer. */
function issue(pem: string): X509Certificate {
  const request = readCertificateRequest(pem);
  checkRequestSignature(request);
  return new X509Certificate(signCertificate({ ...request, notBefore, notAfter }, authority, random));
}

function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

function utf32(text: string): Buffer {
  return Buffer.concat(Array.from(text, (character) => Buffer.from([0, 0, 0, character.codePointAt(0)!])));
}

describe('the subject of a request', () => {
  it.each<[string, number, Uint8Array]>([
    ['UTF8String', TAG.utf8String, Buffer.from('system:masters')],
    ['PrintableString', TAG.printableString, Buffer.from('system:masters')],
    ['IA5String', TAG.ia5String, Buffer.from('system:masters')],
    ['T61String', TAG.t61String, Buffer.from('system:masters')],
    ['BMPString', TAG.bmpString, utf16('system:masters')],
    ['BMPString with an end mark', TAG.bmpString, utf16('system:masters\0')],
  ])('is read from a %s', (_, tag, value) => {
    expect(readCertificateRequest(requestOf(attribute(ORGANIZATION, tag, value))).subject.organizations).toEqual(['system:masters']);
  });

  it('leaves out a UniversalString, and so does the certificate', () => {
    const pem = requestOf(attribute(ORGANIZATION, UNIVERSAL_STRING, utf32('system:masters')));
    expect(readCertificateRequest(pem).subject.organizations).toEqual([]);
    expect(issue(pem).subject ?? '').not.toContain('O=');
  });

  it.each<[string, number, Uint8Array, string]>([
    ['the printable set', TAG.printableString, Buffer.from('a@b'), 'asn1: syntax error: PrintableString contains invalid character'],
    ['digits', TAG.numericString, Buffer.from('1a'), 'asn1: syntax error: NumericString contains invalid character'],
    ['ASCII', TAG.ia5String, Buffer.from([0x80]), 'asn1: syntax error: IA5String contains invalid character'],
    ['UTF-8', TAG.utf8String, Buffer.from([0xff]), 'asn1: invalid UTF-8 string'],
    ['pairs of bytes', TAG.bmpString, Buffer.from([0, 0x61, 0]), 'invalid BMPString'],
    ['characters without surrogates', TAG.bmpString, Buffer.from([0xd8, 0, 0xdc, 0]), 'invalid BMPString'],
  ])('is refused where its text is outside %s', (_, tag, value, message) => {
    expect(() => readCertificateRequest(requestOf(attribute(ORGANIZATION, tag, value)))).toThrow(message);
  });

  it('is refused where an object identifier is not in its shortest form', () => {
    const long = der(TAG.oid, Buffer.from([0x55, 0x04, 0x80, 0x0a]));
    const pem = requestOf(der(TAG.set, sequence(long, der(TAG.utf8String, Buffer.from('system:masters')))));
    expect(() => readCertificateRequest(pem)).toThrow('asn1: syntax error: integer is not minimally encoded');
  });

  it('is in the certificate exactly as it was read, whatever its encoding', () => {
    const tags = [...Object.values(TAG), UNIVERSAL_STRING, 0x1a, 0x1b].filter((tag) => tag < 0x30);
    const value = fc.oneof(
      fc.string().map((text) => Buffer.from(text)),
      fc.string().map(utf16),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(Buffer.from('system:masters'), utf16('system:masters'), utf32('system:masters')),
    );
    const type = fc.constantFrom(ORGANIZATION, '2.5.4.3', '2.5.4.11', '2.5.4.5', '1.3.6.1.4.1.57683.2');
    const part = fc.record({ type, tag: fc.constantFrom(...tags), value });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const pem = requestOf(...parts.map((attributePart) => attribute(attributePart.type, attributePart.tag, attributePart.value)));
        const checked = attempt(() => readCertificateRequest(pem).subject);
        const certificate = attempt(() => issue(pem));
        expect(certificate === undefined).toBe(checked === undefined);
        if (checked === undefined || certificate === undefined) return;
        const issued = readCertificateSubject(certificate.raw);
        expect(issued.organizations).toEqual(checked.organizations);
        expect(issued.commonName).toBe(checked.commonName);
        // OpenSSL, which is another parser, sees the same groups.
        const seen = certificate.toLegacyObject().subject as unknown as Record<string, string | string[] | undefined>;
        expect([seen?.O ?? []].flat()).toEqual(checked.organizations);
      }),
    );
  });
});

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

describe('a text of several blocks', () => {
  const harmless = createCertificateRequest(key, { subject: { commonName: 'alice' } });
  const privileged = createCertificateRequest(key, { subject: { commonName: 'alice', organizations: ['system:masters'] } });
  const strayed = harmless.replace('\n', '\n*');
  const withHeader = harmless.replace('\n', '\nProc-Type: 4\n\n');

  it.each<[string, string, readonly string[]]>([
    ['the first', harmless + privileged, []],
    ['the first, be the other harmless', privileged + harmless, ['system:masters']],
    ['the second, when the first is not base64', strayed + privileged, ['system:masters']],
    ['the first, even with a header', withHeader + privileged, []],
  ])('is read and signed as %s', (_, text, organizations) => {
    expect(readCertificateRequest(text).subject.organizations).toEqual(organizations);
    expect(readCertificateSubject(issue(text).raw).organizations).toEqual(organizations);
  });

  it('is not signed when the block that is read does not prove its key', () => {
    const other = createCertificateRequest(newPrivateKey(), { subject: { commonName: 'mallory' } });
    const bytes = Buffer.from(other.split('\n').slice(1, -2).join(''), 'base64');
    bytes[bytes.length - 1]! ^= 1;
    expect(() => issue(encodePem('CERTIFICATE REQUEST', bytes) + harmless)).toThrow('x509: ECDSA verification failure');
  });
});
