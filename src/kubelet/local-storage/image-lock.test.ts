import { describe, expect, it } from 'vitest';
import { withImageLock } from './image-lock.ts';

describe.skipIf(process.platform !== 'linux')('the lock of an image', () => {
  it('lets one caller in at a time, also by another spelling of the path', async () => {
    const file = `/images/${process.pid}-a.img`;
    let holders = 0;
    const visit = async (path: string, turn: number) =>
      withImageLock(path, async () => {
        holders++;
        await new Promise((resolve) => setImmediate(resolve));
        expect(holders).toBe(1);
        holders--;
        return turn;
      });
    const turns = Array.from({ length: 20 }, (_, turn) => visit(turn % 2 === 0 ? file : `/images/x/../${process.pid}-a.img`, turn));
    expect((await Promise.all(turns)).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, turn) => turn));
  });

  it('is released by an error, and does not hold up other images', async () => {
    const file = `/images/${process.pid}-b.img`;
    await expect(withImageLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withImageLock(file, () => withImageLock(`${file}.other`, async () => 'both'))).toBe('both');
  });
});
