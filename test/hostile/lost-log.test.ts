import { expect, test } from 'vitest';
import { ApiDriver } from '../bench/api-driver.ts';
import { startSampan, temporaryDirectory, usageOf } from '../bench/server-process.ts';

test('a cluster whose log cannot be written starts, serves, and counts the lines', { timeout: 120_000 }, async () => {
  using directory = temporaryDirectory();
  // /dev/full: every write fails with ENOSPC.
  await using server = await startSampan(directory.path, ['--nodes', '1', '--verbose'], { log: '/dev/full' });
  using driver = new ApiDriver(server.port, 1);
  for (let i = 0; i < 20; i++) {
    const body = { metadata: { name: `m-${i}` }, data: {} };
    await driver.send('POST', '/api/v1/namespaces/default/configmaps', { body });
  }
  const text = await driver.send('GET', '/metrics').then(({ chunks }) => Buffer.concat(chunks).toString());
  expect(Number(/^sampan_log_write_errors_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  expect(text).not.toContain('sampan_unhandled_errors_total{');
  expect(usageOf(server.pid).cpuSeconds).toBeLessThan(60);
});
