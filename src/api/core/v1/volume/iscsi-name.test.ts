import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isISCSIName } from './iscsi-name.ts';

// What upstream matches names with.
const UPSTREAM = /iqn\.\d{4}-\d{2}\.([0-9A-Za-z\-.]+)(:[^,;*&$|\s]+)$/;

it('iSCSI qualified names are recognized as upstream', () => {
  const part = fc.constantFrom('iqn.2001-04.', 'iqn.', '2001-04.', 'a', '-', '.', ':', ',', ' ', '1', '*', '_');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const name = `iqn${parts.join('')}`;
      expect(isISCSIName(name)).toBe(UPSTREAM.test(name));
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['iqn.2001-04.com.example:storage.kube.sys1.xyz', true],
  ['iqn.2001-04.com.example', false],
  ['eui.0123456789ABCDEF', true],
  ['naa.62004567BA64678D0123456789ABCDEF', true],
  ['abc', false],
])('%s: %s', (name, isName) => {
  expect(isISCSIName(name)).toBe(isName);
});
