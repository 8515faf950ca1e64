import { describe, expect, it } from 'vitest';
import { runProgram } from './run-program.ts';

describe('a program', () => {
  it('that does not end in time is ended, and said so', async () => {
    await expect(runProgram('sleep', ['60'], { timeoutMs: 50 })).rejects.toThrow('sleep did not end within 0.05 seconds');
  });

  // No timer either: this file would fail for it.
  it('that is not there leaves nothing behind', async () => {
    await expect(runProgram('/nothing/here', [])).rejects.toThrow('cannot run /nothing/here: spawn /nothing/here ENOENT');
  });

  it('that fails tells what it wrote', async () => {
    await expect(runProgram('sh', ['-c', 'echo broken >&2; exit 3'])).rejects.toMatchObject({ message: 'sh failed: broken', exitCode: 3 });
  });
});
