import { describe, expect, test } from 'vitest';
import { isMailAddress } from './mail-address.ts';

describe('a mail address', () => {
  test.each([
    'a@b',
    'jdoe@machine.example',
    '  a@b.c\t',
    'a.b+c@d-e.f',
    '"much more unusual"@example.com',
    '"quo\\"ted"@example.com',
    'üser@exämple.com',
    'a@ b.c',
    'jdoe@[192.168.0.1]',
    'jdoe@[IPv6:2001:db8::1]',
    'John Doe <jdoe@machine.example>',
    'John. Q. Doe <jdoe@machine.example>',
    '"Joe & J. Harvey" <ddd@example.org>',
    '"" <jdoe@machine.example>',
    '<boss@nil.test>',
    'John (middle) Doe <jdoe@machine.example>',
    'Pete(A nice \\) chap) <pete@silly.test>',
    'jdoe@machine.example (John Doe)',
    'jdoe@machine.example (a (nested) comment)',
    '=?utf-8?q?J=C3=B6rg?= <joerg@example.com>',
    '=?x-unknown?q?not =decodable?= <a@b.c>',
    'group: only@one.com;',
    'group: only@one.com; (comment)',
  ])('%j', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  test.each([
    '',
    ' ',
    'a',
    'a@',
    '@b',
    'a@b@c',
    '.a@b',
    'a..b@c',
    'a.@b',
    'a@b.',
    'a@.b',
    'a b@c',
    '""@example.com',
    '"open@example.com',
    '"tab\n"@example.com',
    'jdoe@[300.0.0.1]',
    'jdoe@[::1]',
    'jdoe@[IPv6:nope]',
    'jdoe@[1.2.3.4',
    'John Doe',
    'John Doe <jdoe@machine.example',
    'John Doe <jdoe@machine.example> more',
    'John (open <jdoe@machine.example>',
    'a@b.c, d@e.f',
    'a@b.c (open',
    'group:;',
    'group: a@b.c, d@e.f;',
    'group: inner: a@b.c;;',
    '=?x-unknown?q?abc?= <a@b.c>',
    'a@b\u0000c',
  ])('%j is none', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });

  test('a long text is read in one go', () => {
    expect(isMailAddress(`${'a.'.repeat(500_000)}@b`)).toBe(false);
    expect(isMailAddress(`${'('.repeat(500_000)}`)).toBe(false);
    expect(isMailAddress(`${'a '.repeat(300_000)}<a@b>`)).toBe(true);
  });
});
