import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What is known of a process that lives, where it cannot be told from a later one with the same number. */
const ALIVE = 'alive';

/**
 * Tells a process from every other that had or will have its number: by the boot and the moment it began. Undefined when there is no such
 * process, or it has ended and only waits for its parent.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  return process.platform === 'linux' ? linuxIdentity(pid) : otherIdentity(pid);
}

/** Whether the process that had this identity runs still. Where identities are not known, that one of this number does must do. */
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
    // The name, in brackets, may hold anything; what follows begins with the state, the third field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : `${boot}/${fields[STARTED - 3]}`;
  } catch {
    return isAlive(pid) ? ALIVE : undefined;
  }
}

/** The number of the field of /proc/PID/stat that says when the process began. */
const STARTED = 22;

function otherIdentity(pid: number): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const began = stdout?.trim();
  if (status === 0 && began) return began;
  return isAlive(pid) ? ALIVE : undefined;
}
