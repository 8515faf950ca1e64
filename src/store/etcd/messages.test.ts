import { expect, test } from 'vitest';
import { decodeLease, decodeRange, decodeWatch, encodeLeaseId, encodeRange } from './messages.ts';
import { atLeastVersion } from './server-version.ts';

test('encoded messages match those of etcd', () => {
  // As Go's client encodes them.
  expect(encodeRange({ start: Buffer.from('/a'), end: Buffer.from('/b'), limit: 300, revision: 5, keysOnly: true }).toString('hex')).toBe(
    '0a022f6112022f6218ac0220054001',
  );
  expect(encodeLeaseId('ffffffffffffffff').toString('hex')).toBe('08ffffffffffffffffff01');
  expect(decodeLease(Buffer.from('10ffffffffffffffffff01183c', 'hex'))).toEqual({ id: 'ffffffffffffffff', ttlSeconds: 60 });
  const range = decodeRange(Buffer.from('0a0418072002120c0a042f782f611002180320021801', 'hex'), '/x');
  expect(range).toMatchObject({ revision: 7, more: true, entries: [{ key: '/a', createRevision: 2, modRevision: 3, version: 2 }] });
  expect(decodeWatch(Buffer.from('10ffffffffffffffffff0120012803', 'hex'), '')).toMatchObject({
    canceled: true,
    compactRevision: 3,
    events: [],
  });
});

test.each([
  ['3.4.23', '3.4.0', true],
  ['3.4.9', '3.4.31', false],
  ['3.10.0', '3.5.13', true],
  ['3.5.13-rc.0', '3.5.13', true],
  ['3.3.99', '3.4.0', false],
  ['4.0.0', '3.5.13', true],
])('version %s is at least %s: %s', (version, least, expected) => {
  expect(atLeastVersion(version, least)).toBe(expected);
});
