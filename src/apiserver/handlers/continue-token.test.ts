import { describe, expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const token = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const v = 'meta.k8s.io/v1';

describe('a continue token', () => {
  it('is read as it was written', () => {
    expect(decodeContinue(encodeContinue({ revision: 7, start: 'default/a\0' }))).toEqual({ revision: 7, start: 'default/a\0' });
  });

  it.each([
    ['x', 'illegal base64 data at input byte 0'],
    ['ab!d', 'illegal base64 data at input byte 2'],
    [token('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [token({ v, rv: 'x', start: 'a' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [token('{"v"'), 'unexpected end of JSON input'],
    [token('null'), 'server does not recognize this encoded version '],
    [token({ v: 'v9', rv: 1, start: 'a' }), 'server does not recognize this encoded version v9'],
    [token({ v, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v, rv: 1 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token({ v, rv: 1, start: '../other' }), '../other'],
    [token({ v, rv: 1, start: 'a//b' }), 'a//b'],
  ])('is refused when it is %s', (text, message) => {
    expect(() => decodeContinue(text)).toThrow(`invalid continue token: continue key is not valid: ${message}`);
  });
});
