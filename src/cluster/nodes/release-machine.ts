import { readdir, readFile, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';
import { cgroupRootOf } from './choose-runtime.ts';

/**
 * Removes what a node with this data directory leaves on the machine besides files: mounts below the directory, and cgroups.
 * Its containers must have exited.
 */
export async function releaseMachine(dataDirectory: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const mountpoint of await mountsBelow(dataDirectory)) await runProgram('umount', ['--lazy', mountpoint]);
  const root = cgroupRootOf(dataDirectory);
  const hierarchies = await readdir('/sys/fs/cgroup').catch(() => []);
  for (const place of ['', ...hierarchies]) await removeCgroup(path.join('/sys/fs/cgroup', place, root));
}

/** Innermost first. */
async function mountsBelow(directory: string): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const mountpoints = table.split('\n').map((line) => decodeOctal(line.split(' ')[4] ?? ''));
  return mountpoints.filter((mountpoint) => mountpoint.startsWith(`${directory}/`)).reverse();
}

/** The kernel escapes white space in octal. */
function decodeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

async function removeCgroup(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeCgroup(path.join(directory, entry.name));
  await rmdir(directory);
}
