import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectMemberRange } from './json-member.ts';

const memberText = (text: string, name = 'spec') => {
  const bytes = Buffer.from(text);
  const range = objectMemberRange(bytes, name);
  return range && bytes.toString('utf8', range.from, range.to);
};

describe('the place of a member in JSON text', () => {
  it.each([
    ['alone', '{"spec":{"a":1}}', '{"a":1}'],
    ['with space around everything', ' {\n "spec" :\t{ "a" : [1, {}] } }\r\n', '{ "a" : [1, {}] }'],
    ['behind members that name it deeper', '{"metadata":{"spec":{"b":2}},"spec":{}}', '{}'],
    ['beside values that spell its name', '{"a":"spec","b":["spec"],"spec":{"c":"}"}}', '{"c":"}"}'],
    ['with braces and quotes in its strings', String.raw`{"spec":{"a":"\"}{\\"},"b":1}`, String.raw`{"a":"\"}{\\"}`],
    ['with characters of several bytes before it', '{"ä€😀":"ß","spec":{"ö":"ü"}}', '{"ö":"ü"}'],
  ])('is found %s', (_, text, expected) => {
    expect(memberText(text)).toBe(expected);
  });

  it.each([
    ['is not there', '{"a":{"spec":{}}}'],
    ['is there twice', '{"spec":{},"spec":{}}'],
    ['is no object', '{"spec":[{}]}'],
    ['is null', '{"spec":null}'],
    ['is in a list', '[{"spec":{}}]'],
    ['is only the beginning of a name', '{"specs":{}}'],
  ])('is unknown when it %s', (_, text) => {
    expect(memberText(text)).toBeUndefined();
  });

  it('is that of the value which JSON.parse finds', () => {
    const documents = fc.dictionary(fc.oneof(fc.constant('spec'), fc.string()), fc.jsonValue());
    fc.assert(
      fc.property(documents, fc.constantFrom(undefined, 1), (document, indent) => {
        const text = memberText(JSON.stringify(document, null, indent));
        const spec = Object.hasOwn(document, 'spec') ? document.spec : undefined;
        const isObject = typeof spec === 'object' && spec !== null && !Array.isArray(spec);
        expect(text && JSON.parse(text)).toEqual(isObject ? JSON.parse(JSON.stringify(spec)) : undefined);
      }),
    );
  });

  it('ends with the text, however broken that is', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (noise) => {
        const bytes = Buffer.concat([Buffer.from('{"spec":{'), noise]);
        const range = objectMemberRange(bytes, 'spec');
        expect(range === undefined || range.to <= bytes.length).toBe(true);
      }),
    );
  });
});
