import { expect, test } from 'vitest';
import { ApiDriver, timed } from '../bench/api-driver.ts';
import { startSampan, temporaryDirectory } from '../bench/server-process.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TEXT = 'x'.repeat(1000 * 1024);
/** The server's heap, smaller than the data it receives. */
const HEAP_MIB = 128;
const QUOTA_MIB = 200;
const ARGS = ['--nodes', '0', '--apiserver-arg', `quota-backend-bytes=${QUOTA_MIB * 1024 * 1024}`];

function withHeap<T>(start: () => Promise<T>): Promise<T> {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--max-old-space-size=${HEAP_MIB}`;
  try {
    return start();
  } finally {
    process.env.NODE_OPTIONS = before ?? '';
  }
}

async function create(driver: ApiDriver, i: number): Promise<string | undefined> {
  const body = { metadata: { name: `m-${i}` }, data: { text: TEXT } };
  return driver.send('POST', MAPS, { body }).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test('a database larger than the heap fills up to its quota, is served, outlives a restart, and has room again', {
  timeout: 400_000,
}, async () => {
  using directory = temporaryDirectory();
  const failures: string[] = [];
  {
    await using server = await withHeap(() => startSampan(directory.path, ARGS));
    using driver = new ApiDriver(server.port, 2);
    await timed(QUOTA_MIB + 100, 2, async (i) => {
      const failure = await create(driver, i);
      if (failure !== undefined) failures.push(failure);
    });
    expect(failures.length).toBeGreaterThan(50);
    expect(failures.at(-1)).toContain('answered with 500');
    expect(failures.at(-1)).toContain('etcdserver: mvcc: database space exceeded');
  }
  await using server = await withHeap(() => startSampan(directory.path, ARGS));
  using driver = new ApiDriver(server.port, 2);
  const { items, metadata } = await driver.read<{ items: { metadata: { name: string } }[]; metadata: { continue: string } }>(
    `${MAPS}?limit=20`,
  );
  expect([items.length, metadata.continue !== '']).toEqual([20, true]);
  const createdCount = QUOTA_MIB + 100 - failures.length;
  const map = await driver.read<{ data: { text: string } }>(
    `${MAPS}/${items.find(({ metadata: { name } }) => name.startsWith('m-'))!.metadata.name}`,
  );
  expect(map.data.text).toHaveLength(TEXT.length);
  expect(await driver.send('GET', '/readyz').catch((error: Error) => error.message)).toContain('[-]database-quota failed');
  const names = Array.from({ length: createdCount }, (_, i) => `m-${i}`);
  let deleted = 0;
  for (const name of names)
    await driver.send('DELETE', `${MAPS}/${name}`).then(
      () => deleted++,
      () => {},
    );
  expect(deleted).toBeGreaterThan(createdCount - 20);
  await expect
    .poll(
      () =>
        driver.send('GET', '/readyz').then(
          ({ status }) => status,
          () => 500,
        ),
      { timeout: 60_000, interval: 1_000 },
    )
    .toBe(200);
  expect(await create(driver, 10_000)).toBeUndefined();
});
