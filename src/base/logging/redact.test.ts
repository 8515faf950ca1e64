import { describe, expect, it } from 'vitest';
import { redactText } from './redact.ts';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';

describe('redacted text', () => {
  it.each([
    ['a JWT', `token ${JWT} end`, 'token [redacted] end'],
    ['a JWT inside dotted words', `a.b-${JWT}.c`, 'a.b-[redacted].c'],
    ['two JWTs', `${JWT} ${JWT}`, '[redacted] [redacted]'],
    ['no JWT without claims', 'eyJhbGciOiJSUzI1NiJ9.sig.x', 'eyJhbGciOiJSUzI1NiJ9.sig.x'],
    ['the password of a URL', 'get https://user:pass@host/path?q=a:b@c', 'get https://user:[redacted]@host/path?q=a:b@c'],
    ['no port of a URL', 'get https://host:443/user@x', 'get https://host:443/user@x'],
    ['a private key', 'x -----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY----- y', 'x [redacted] y'],
    ['a private key that is cut', 'x -----BEGIN PRIVATE KEY-----\nAAAA', 'x [redacted]'],
    [
      'no certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    ],
    ['a bearer token', 'Authorization: Bearer abcdefgh', 'Authorization: Bearer [redacted]'],
  ])('hides %s', (_, text, expected) => {
    expect(redactText(text)).toBe(expected);
  });
});
