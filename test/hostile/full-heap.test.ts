import { expect, test } from 'vitest';
import { ApiDriver, timed } from '../bench/api-driver.ts';
import { startSampan, temporaryDirectory, usageOf } from '../bench/server-process.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
/** The server's heap. With 4096 and no other change, the database of the default quota: see the README. */
const HEAP_MIB = Number(process.env.HOSTILE_HEAP_MIB ?? 128);
const VALUE_BYTES = Number(process.env.HOSTILE_VALUE_BYTES ?? 100);
/** Far more than fits into the heap. */
const MOST_OBJECTS = HEAP_MIB * 2_000;
const CONNECTIONS = 8;
const ROUND = 2_000;

function startWithHeap(directory: string) {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--max-old-space-size=${HEAP_MIB}`;
  try {
    return startSampan(directory, ['--nodes', '0']);
  } finally {
    process.env.NODE_OPTIONS = before ?? '';
  }
}

const failureOf = (sent: Promise<unknown>): Promise<string> =>
  sent.then(
    () => '',
    (error: Error) => error.message,
  );

function create(driver: ApiDriver, name: string): Promise<string> {
  return failureOf(driver.send('POST', MAPS, { body: { metadata: { name }, data: { text: 'x'.repeat(VALUE_BYTES) } } }));
}

/** Creates objects until one is rejected; resolves to its error and the number of objects. */
async function fill(driver: ApiDriver): Promise<{ count: number; failure: string }> {
  for (let count = 0; count < MOST_OBJECTS; ) {
    let failure = '';
    const from = count;
    await timed(ROUND, CONNECTIONS, async (i) => {
      const problem = await create(driver, `m-${from + i}`);
      if (problem === '') count++;
      else failure ||= problem;
    });
    if (failure !== '') return { count, failure };
  }
  return { count: MOST_OBJECTS, failure: '' };
}

test('a heap full of small objects turns creations away, is served, outlives a restart, and has room again', {
  timeout: 3_600_000,
}, async () => {
  using directory = temporaryDirectory();
  let count = 0;
  {
    await using server = await startWithHeap(directory.path);
    using driver = new ApiDriver(server.port, CONNECTIONS);
    const filled = await fill(driver);
    count = filled.count;
    expect(filled.failure).toContain('answered with 500');
    expect(filled.failure).toContain('etcdserver: mvcc: database space exceeded');
    expect(await failureOf(driver.send('GET', '/readyz'))).toContain('[-]heap-quota failed');
    expect(await failureOf(driver.send('GET', `${MAPS}?limit=500`))).toBe('');
    process.stderr.write(`${count} objects in a heap of ${HEAP_MIB} MiB; resident: ${Math.round(usageOf(server.pid).residentMiB)} MiB\n`);
  }
  await using server = await startWithHeap(directory.path);
  using driver = new ApiDriver(server.port, CONNECTIONS);
  const { items } = await driver.read<{ items: { metadata: { name: string } }[] }>(`${MAPS}?limit=5`);
  expect(items).toHaveLength(5);
  const removed = Math.ceil(count / 3);
  const failures: string[] = [];
  await timed(removed, CONNECTIONS, async (i) => {
    const failure = await failureOf(driver.send('DELETE', `${MAPS}/m-${i}`));
    if (failure !== '' && !failure.includes('answered with 404')) failures.push(failure);
  });
  expect(failures).toEqual([]);
  await expect.poll(() => failureOf(driver.send('GET', '/readyz')), { timeout: 120_000, interval: 1_000 }).toBe('');
  expect(await create(driver, 'again')).toBe('');
});
