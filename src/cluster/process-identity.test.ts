import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isSameProcess, processIdentity } from './process-identity.ts';

it('is the same for as long as a process lives, and none afterwards', async () => {
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

it.runIf(process.platform === 'linux')('differs from that of another process that has the number now', () => {
  expect(isSameProcess(process.pid, 'an-earlier-boot/4711')).toBe(false);
  expect(processIdentity(process.pid)).not.toBe(processIdentity(process.ppid));
});

it('is taken on trust where none was written down', () => {
  expect(isSameProcess(process.pid, undefined)).toBe(true);
});
