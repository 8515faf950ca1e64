import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock, silentLogger } from '#base';
import { openEmbeddedStore } from '#store';
import { ApiDriver } from '../bench/api-driver.ts';
import { startSampan, temporaryDirectory, usageOf } from '../bench/server-process.ts';

// A cluster starts with any database within its limits. The long run: see the README.

const MAPS = '/api/v1/namespaces/default/configmaps';
const SCALE = Number(process.env.HOSTILE_START_SCALE ?? 1);
const BATCH = 200;

interface Filling {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
  readonly heapMiB: number;
}

/** At scale 16: 2 GB of large values in a heap of 512 MiB, and 240,000 small objects. */
const FILLINGS: readonly Filling[] = [
  { name: 'large values', objects: 130 * SCALE, bytes: 1_000_000, heapMiB: Math.max(96, 32 * SCALE) },
  { name: 'many small objects', objects: 15_000 * SCALE, bytes: 300, heapMiB: Math.max(128, 32 * SCALE) },
];

function startWithHeap(directory: string, heapMiB: number) {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--max-old-space-size=${heapMiB}`;
  try {
    return startSampan(directory, ['--nodes', '0']);
  } finally {
    process.env.NODE_OPTIONS = before ?? '';
  }
}

/** Writes directly to the database of a stopped cluster, which is faster than requests. */
async function fill(directory: string, { objects, bytes }: Filling): Promise<void> {
  await using store = await openEmbeddedStore({ directory, clock: realClock, logger: silentLogger });
  const text = 'x'.repeat(bytes);
  for (let from = 0; from < objects; from += BATCH) {
    const names = Array.from({ length: Math.min(BATCH, objects - from) }, (_, i) => `m-${from + i}`);
    await Promise.all(
      names.map((name) => store.txn({ write: [{ type: 'put', key: `/registry/configmaps/default/${name}`, value: mapOf(name, text) }] })),
    );
  }
}

function mapOf(name: string, text: string): Buffer {
  const uid = `00000000-0000-4000-8000-${name.slice(2).padStart(12, '0')}`;
  const metadata = { name, namespace: 'default', uid, creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: 'full' } };
  return Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { text } }));
}

test.each(FILLINGS)(
  'starts with a database of $name ($objects of $bytes bytes) in a heap of $heapMiB MiB',
  { timeout: 3_600_000 },
  async (filling) => {
    using directory = temporaryDirectory();
    {
      await using _first = await startWithHeap(directory.path, filling.heapMiB);
    }
    await fill(join(directory.path, 'data', 'store'), filling);
    await using server = await startWithHeap(directory.path, filling.heapMiB);
    using driver = new ApiDriver(server.port, 1);
    const last = `${MAPS}/m-${filling.objects - 1}`;
    expect((await driver.read<{ data: { text: string } }>(last)).data.text).toHaveLength(filling.bytes);
    expect((await driver.send('DELETE', last)).status).toBe(200);
    const { cpuSeconds, peakMiB } = usageOf(server.pid);
    process.stderr.write(
      `${filling.name}: ${filling.objects} objects, ready with ${cpuSeconds} s of CPU, peak ${Math.round(peakMiB)} MiB\n`,
    );
  },
);
