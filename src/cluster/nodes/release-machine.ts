import { existsSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';
import { cgroupRootOf } from './choose-runtime.ts';

export interface ReleaseOptions {
  /** Where cgroups are mounted. */
  readonly cgroups?: string;
  /** Runs a program of the machine. */
  readonly run?: (program: string, args: readonly string[]) => Promise<unknown>;
}

/**
 * Removes what a node with this data directory leaves on the machine besides files: mounts below the directory, and cgroups.
 * Its containers must have exited.
 */
export async function releaseMachine(dataDirectory: string, options: ReleaseOptions = {}): Promise<void> {
  if (process.platform !== 'linux') return;
  const { cgroups = '/sys/fs/cgroup', run = runProgram } = options;
  for (const mountpoint of await mountsBelow(dataDirectory)) await run('umount', ['--lazy', mountpoint]);
  const root = cgroupRootOf(dataDirectory);
  const hierarchies = await readdir(cgroups).catch(() => []);
  const places = ['', ...hierarchies].map((name) => path.join(cgroups, name));
  // With the systemd cgroup driver pods are in a slice, which systemd would create again.
  const slice = `${root.slice(1).replaceAll('-', '_')}.slice`;
  if (places.some((place) => existsSync(path.join(place, slice)))) await run('systemctl', ['stop', slice]);
  for (const place of places) for (const name of [root, slice]) await removeCgroup(path.join(place, name));
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
