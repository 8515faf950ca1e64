import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePem, pemBlocks } from './pem.ts';

const typesOf = (text: string) => Array.from(pemBlocks(text), ({ type }) => type);
const A = '-----BEGIN A-----\nAAAA\n-----END A-----\n';

describe('PEM', () => {
  it('is read as it was written', () => {
    const block = fc.record({ type: fc.constantFrom('CERTIFICATE', 'PRIVATE KEY', ''), bytes: fc.uint8Array({ maxLength: 200 }) });
    fc.assert(
      fc.property(fc.array(block), fc.stringMatching(/^[a-z \n]*$/), (blocks, between) => {
        const text = blocks.map(({ type, bytes }) => `${between}\n${encodePem(type, bytes)}`).join('');
        const read = Array.from(pemBlocks(text), ({ type, bytes }) => ({ type, bytes: [...bytes] }));
        expect(read).toEqual(blocks.map(({ type, bytes }) => ({ type, bytes: [...bytes] })));
      }),
    );
  });

  it.each<[string, string, readonly string[]]>([
    ['ends of lines with a carriage return', A.replaceAll('\n', '\r\n'), ['A']],
    ['no end of line at its end', A.trimEnd(), ['A']],
    ['spaces and tabs after lines and inside the text', '-----BEGIN A----- \t\nAA \tAA \n-----END A-----  \n', ['A']],
    ['no text', '-----BEGIN A-----\n-----END A-----\n', ['A']],
    ['a repeated first line', `-----BEGIN B-----\n${A}`, ['A']],
    ['text before it', `hello\n${A}`, ['A']],
    ['text before it on its line', `hello ${A}`, []],
    ['another type at its end', '-----BEGIN A-----\nAAAA\n-----END B-----\n', []],
    ['text after its last line', `${A.trimEnd()}x\n`, []],
    ['characters outside base64', A.replace('AAAA', 'AA*A'), []],
    ['missing padding', A.replace('AAAA', 'AAA'), []],
    ['headers and no line after them', '-----BEGIN A-----\na: b\n-----END A-----\n', []],
  ])('with %s', (_, text, types) => {
    expect(typesOf(text)).toEqual(types);
  });

  it('may have headers', () => {
    expect([...pemBlocks(A.replace('\n', '\nProc-Type: 4,ENCRYPTED\n\n'))]).toMatchObject([{ type: 'A', hasHeaders: true }]);
  });
});
