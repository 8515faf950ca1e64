import { afterEach, expect, it, vi } from 'vitest';
import { BulkGarbage } from './bulk-garbage.ts';

afterEach(() => vi.unstubAllGlobals());

it('BulkGarbage collects the young generation once per 4 MiB of data', () => {
  const gc = vi.fn();
  vi.stubGlobal('gc', gc);
  const garbage = new BulkGarbage();
  for (let record = 0; record < 600; record++) garbage.add(16 * 1024);
  expect(gc.mock.calls).toEqual([[{ type: 'minor' }], [{ type: 'minor' }]]);
});

it('bulk data is not collected early in programs without --expose-gc', () => {
  vi.stubGlobal('gc', undefined);
  expect(() => new BulkGarbage().add(1 << 30)).not.toThrow();
});
