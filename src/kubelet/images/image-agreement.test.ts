import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizedImageName } from './image-name.ts';
import { fullImageName, parseImageName } from './parse-image-name.ts';

// The name that is validated, the name that credentials are looked up by, and the name that is pulled must agree.

const piece = fc.constantFrom(
  'busybox',
  'a',
  'A',
  '0',
  '.',
  '-',
  '_',
  '__',
  '/',
  ':',
  '@',
  'localhost',
  'docker.io',
  'index.docker.io',
  '[::1]',
  ':5000',
  'sha256:',
  '日',
  ' ',
  `sha256:${'0'.repeat(64)}`,
);
const names = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.string({ maxLength: 40 }),
);

function result<T>(read: () => T): { value: T } | undefined {
  try {
    return { value: read() };
  } catch {
    return undefined;
  }
}

test('all parsers of image names accept the same names, and agree on the image', () => {
  fc.assert(
    fc.property(names, (name) => {
      const parsed = result(() => parseImageName(name));
      const full = result(() => fullImageName(name));
      const normalized = result(() => normalizedImageName(name));
      expect([full !== undefined, normalized !== undefined]).toEqual([parsed !== undefined, parsed !== undefined]);
      if (parsed === undefined || full === undefined || normalized === undefined) return;
      expect(parseImageName(full.value)).toEqual(parsed.value);
      expect(fullImageName(full.value)).toBe(full.value);
      expect(parseImageName(normalized.value)).toEqual(parsed.value);
    }),
    { numRuns: 2000 },
  );
});
