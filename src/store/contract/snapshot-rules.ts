import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ContractEngine, page, put, record, remove, text, until, write } from './contract-engine.ts';

export function snapshotRules(engine: ContractEngine): void {
  const directory = async () => {
    const path = await mkdtemp(join(tmpdir(), 'sampan-snapshot-'));
    onTestFinished(() => rm(path, { recursive: true, force: true }));
    return path;
  };

  test('S1: a restored snapshot is the store as it was', async () => {
    await using store = await engine.open();
    const { id } = await store.grantLease(3_600);
    await write(
      store,
      put('/a', '1'),
      put('/b', '2'),
      put('/a', '3'),
      remove('/b'),
      put('/c', '4', { lease: id }),
      put('/big', 'x'.repeat(100_000)),
    );
    const file = join(await directory(), 'snapshot');
    const info = await store.snapshot(file);
    const then = await page(store, {});
    expect(info.revision).toBe(then.revision);
    await write(store, put('/after'));
    await using restored = await engine.restore(file, store);
    expect(await page(restored, {})).toEqual(then);
    expect((await restored.txn({ write: [put('/new')] })).revision).toBe(info.revision + 1);
    using watch = record(restored, { prefix: '/', fromRevision: info.revision + 1 });
    await until(() => watch.events.length === 1, 'the watch works');
    expect(await restored.revokeLease(id)).toBe(true);
    expect((await restored.get('/c')).entry).toBeUndefined();
  });

  test('S1, S2: a snapshot taken while others write is the state of one moment, in one file', async () => {
    await using store = await engine.open();
    const path = await directory();
    const file = join(path, 'snapshot');
    await write(store, put('/left', '0'), put('/right', '0'));
    let done = false;
    let written = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!done) {
        const value = String(++written);
        await store.txn({ write: [put('/left', value), put('/right', value), put(`/pad/${written % 500}`, 'x'.repeat(2_000))] });
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await engine.passTime(50);
    const { revision } = await store.snapshot(file);
    done = true;
    await Promise.all(writers);
    expect(await readdir(path)).toEqual(['snapshot']);
    await using restored = await engine.restore(file, store);
    const restoredRevision = await restored.revision();
    expect(restoredRevision).toBeGreaterThanOrEqual(revision);
    const [left, right] = [(await restored.get('/left')).entry, (await restored.get('/right')).entry];
    expect(text(left?.value)).toBe(text(right?.value));
    expect(left?.modRevision).toBe(right?.modRevision);
    expect(left?.modRevision).toBeLessThanOrEqual(restoredRevision);
  });

  test('S2: a snapshot that can not be written leaves nothing behind', async () => {
    await using store = await engine.open();
    await write(store, put('/a'));
    const path = await directory();
    await expect(store.snapshot(join(path, 'none', 'snapshot'))).rejects.toThrow();
    await expect(store.snapshot(join(path, 'snapshot'), AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
    expect(await readdir(path)).toEqual([]);
  });
}
