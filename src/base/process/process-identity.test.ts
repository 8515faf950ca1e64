import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isSameProcess, processIdentity } from './process-identity.ts';

it('the identity of a process is stable while it lives, and absent afterwards', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const identity = processIdentity(pid);
  expect(identity).toBeDefined();
  expect(processIdentity(pid)).toBe(identity);
  expect(isSameProcess(pid, identity)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(processIdentity(pid)).toBeUndefined();
  expect(isSameProcess(pid, identity)).toBe(false);
});

it.runIf(process.platform === 'linux')('the identity of a process differs from that of another with the same pid', () => {
  expect(isSameProcess(process.pid, 'an-earlier-boot/4711')).toBe(false);
  expect(processIdentity(process.pid)).not.toBe(processIdentity(process.ppid));
});

it('a process without a recorded identity counts as the same', () => {
  expect(isSameProcess(process.pid, undefined)).toBe(true);
});
