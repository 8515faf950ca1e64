import { describe, expect, test } from 'vitest';
import { realClock } from '#base';
import { WatchFlush } from './watch-flush.ts';

describe('writing to watchers', () => {
  test('happens at once after a pause, and together in a burst', async () => {
    const flush = new WatchFlush();
    const written: string[] = [];
    flush.schedule(() => written.push('first'));
    await Promise.resolve();
    expect(written).toEqual(['first']);
    flush.schedule(() => written.push('second'));
    flush.schedule(() => written.push('third'));
    await Promise.resolve();
    expect(written).toEqual(['first']);
    while (written.length === 1) await realClock.sleep(1);
    expect(written).toEqual(['first', 'second', 'third']);
  });

  test('joins the same frames once for all who get them', async () => {
    const flush = new WatchFlush();
    const [a, b, c] = [Buffer.from('a'), Buffer.from('b'), Buffer.from('c')];
    const joined: Buffer[] = [];
    flush.schedule(() => joined.push(flush.join([a, b]), flush.join([a, b]), flush.join([a, c]), flush.join([c])));
    await Promise.resolve();
    expect(joined.map(String)).toEqual(['ab', 'ab', 'ac', 'c']);
    expect(joined[0]).toBe(joined[1]);
    expect(joined[3]).toBe(c);
  });
});
