import { join } from 'node:path';
import { describe } from 'vitest';
import { csiContract } from '../../csi-driver/contract.ts';
import { TestCsiDriver } from '../../csi-driver/csi-driver.ts';

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)('the rules of CSI (needs root: it mounts)', () => {
  csiContract('the driver of the tests', async (root) => {
    const socket = join(root, 'csi.sock');
    const driver = await TestCsiDriver.start({ name: 'disk.example.com', nodeId: 'id-1', root: join(root, 'driver'), socket });
    return { endpoint: `unix://${socket}`, nodeId: 'id-1', [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose]() };
  });
});
