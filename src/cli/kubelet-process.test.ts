import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkKernelFlags } from './kubelet-process.ts';

const GOOD = {
  ...{ 'vm/overcommit_memory': 1, 'vm/panic_on_oom': 0, 'kernel/panic': 10, 'kernel/panic_on_oops': 1 },
  ...{ 'kernel/keys/root_maxkeys': 1_000_000, 'kernel/keys/root_maxbytes': 25_000_000 },
};

test('a kubelet with protectKernelDefaults starts only with the required sysctls', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'sysctls-'));
  try {
    for (const folder of ['vm', 'kernel/keys']) await mkdir(path.join(directory, folder), { recursive: true });
    for (const [name, value] of Object.entries(GOOD)) await writeFile(path.join(directory, name), `${value}\n`);
    await checkKernelFlags(directory);
    await writeFile(path.join(directory, 'kernel/panic'), '0\n');
    const panic = 'invalid kernel flag: kernel/panic, expected value: 10, actual value: 0';
    await expect(checkKernelFlags(directory)).rejects.toThrow(panic);
    await writeFile(path.join(directory, 'vm/overcommit_memory'), '2\n');
    const overcommit = 'invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 2';
    await expect(checkKernelFlags(directory)).rejects.toThrow(`[${overcommit}, ${panic}]`);
  } finally {
    await rm(directory, { recursive: true });
  }
});
