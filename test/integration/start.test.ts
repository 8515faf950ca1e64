import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('a second start installs nothing and builds nothing', () => {
  const start = () => spawnSync(process.execPath, ['scripts/start.mjs', '--help'], { cwd: ROOT, encoding: 'utf8' }).stderr;
  start();
  expect(start()).not.toMatch(/installing|building/);
});
