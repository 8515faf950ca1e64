import { expect, test } from 'vitest';
import { warningHeaders } from './warning-headers.ts';

test('a warning is quoted, on one line', () => {
  expect(warningHeaders(['unknown field "a\\b"\nand more'])).toEqual(['299 - "unknown field \\"a\\\\b\\" and more"']);
});

test('non-ASCII characters in warnings are sent as UTF-8', () => {
  const [value = ''] = warningHeaders(['unknown field "日本\u{1f600}é"']);
  expect(value).toMatch(/^[\x20-\x7e\x80-\xff]+$/);
  expect(Buffer.from(value, 'latin1').toString('utf8')).toBe('299 - "unknown field \\"日本\u{1f600}é\\""');
});

test('a lone surrogate in a warning does not make an invalid header', () => {
  expect(warningHeaders(['\ud800'])[0]).toMatch(/^[\x20-\x7e\x80-\xff]+$/);
});

test('warnings of up to 4096 characters in total are sent in full', () => {
  const warnings = [1, 2, 3, 4].map((i) => String(i).repeat(1024));
  expect(warningHeaders(warnings)).toEqual(warnings.map((text) => `299 - "${text}"`));
});

test('warnings beyond 4096 characters in total are truncated to 256 each, and the rest is dropped', () => {
  const values = warningHeaders(Array.from({ length: 10_000 }, (_, i) => `${i} ${'日'.repeat(10_000)}`));
  expect(values).toHaveLength(16);
  for (const value of values) expect([...Buffer.from(value, 'latin1').toString('utf8')]).toHaveLength('299 - ""'.length + 256);
});
