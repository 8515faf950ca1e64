import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The identity of a live process on platforms where it cannot be distinguished from a later one with the same pid. */
const ALIVE = 'alive';

/** Distinguishes a process from all others with its pid, by boot id and start time. Undefined if there is no such process, or it is a zombie. */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  return process.platform === 'linux' ? linuxIdentity(pid) : otherIdentity(pid);
}

/** Whether the process with this identity is still running. On platforms without identities any process with this pid counts. */
export function isSameProcess(pid: number, identity: string | undefined): boolean {
  const current = processIdentity(pid);
  if (current === undefined) return false;
  return identity === undefined || identity === ALIVE || current === ALIVE || current === identity;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linuxIdentity(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain anything; the state follows as the third field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : `${boot}/${fields[STARTED - 3]}`;
  } catch {
    return isAlive(pid) ? ALIVE : undefined;
  }
}

/** The field of /proc/PID/stat with the start time. */
const STARTED = 22;

function otherIdentity(pid: number): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const began = stdout?.trim();
  if (status === 0 && began) return began;
  return isAlive(pid) ? ALIVE : undefined;
}
