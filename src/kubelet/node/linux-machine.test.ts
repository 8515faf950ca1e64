import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linuxMachine } from './linux-machine.ts';

test.skipIf(process.platform !== 'linux')('the machine is read before the directory of the kubelet is there, which is made', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'linux-machine-'));
  try {
    const rootDir = join(directory, 'lib/kubelet');
    expect((await linuxMachine(rootDir).read()).storageBytes).toBeGreaterThan(0);
    expect((await stat(rootDir)).mode & 0o777).toBe(0o750);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
