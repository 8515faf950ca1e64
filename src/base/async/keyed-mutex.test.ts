import { expect, it } from 'vitest';
import { KeyedMutex } from './keyed-mutex.ts';

it('a keyed mutex serializes work of one key, also that which comes while earlier work ends, and lets other keys run', async () => {
  const mutex = new KeyedMutex();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} ends`);
  };
  const first = mutex.run('a', work('first'));
  const second = mutex.run('a', work('second'));
  const third = first.then(() => mutex.run('a', work('third')));
  const other = mutex.run('b', work('other'));
  await Promise.all([first, second, third, other]);
  const ofA = log.filter((line) => !line.startsWith('other'));
  expect(ofA).toEqual(['first starts', 'first ends', 'second starts', 'second ends', 'third starts', 'third ends']);
  expect(log.indexOf('other starts')).toBeLessThan(log.indexOf('first ends'));
});

it('work of a keyed mutex runs although work before it failed', async () => {
  const mutex = new KeyedMutex();
  const failed = mutex.run('a', () => Promise.reject(new Error('no')));
  const next = mutex.run('a', () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('done');
});
