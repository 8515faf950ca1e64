/**
 * writer DIRECTORY FIRST CLIENTS: writes to an embedded store until it is killed. Each transaction puts the same number under two keys and
 * deletes a third; it prints `ack NUMBER REVISION` when, and only when, the store has acknowledged it. Meanwhile the history is compacted,
 * and the store copied and rewritten, so that a kill interrupts all kinds of work.
 */
import { writeSync } from 'node:fs';
import { openEmbeddedStore } from '#store';

const [directory = '', first = '0', clients = '10'] = process.argv.slice(2);
const store = await openEmbeddedStore({ directory, historyWindowMs: Number.POSITIVE_INFINITY });
let last = Number(first);

writeSync(1, `open ${await store.revision()}\n`);
for (let client = 0; client < Number(clients); client++) void write();
void maintain();

async function write(): Promise<never> {
  for (;;) {
    const number = ++last;
    const value = Buffer.from(`${number} `.padEnd(100 + ((number * 37) % 3_000), 'x'));
    const { revision } = await store.txn({
      write: [
        { type: 'put', key: `/left/${number % 97}`, value },
        { type: 'put', key: `/right/${number % 97}`, value },
        { type: 'delete', key: `/left/${(number + 13) % 97}/extra` },
        { type: 'put', key: `/left/${number % 97}/extra`, value },
      ],
    });
    writeSync(1, `ack ${number} ${revision}\n`);
  }
}

async function maintain(): Promise<never> {
  for (let round = 0; ; round++) {
    await new Promise((resolve) => setTimeout(resolve, 15));
    const revision = await store.revision();
    if (round % 2 === 0 && revision > 100) await store.compact(revision - 50);
    if (round % 7 === 6) await store.defragment();
  }
}
