import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';
import { type ContainerdPaths, socketOf } from './containerd-config.ts';

/**
 * Cleans up after containerd has exited: processes of containers that it could not stop, their shims, and mounts in the run directory. Only
 * kills processes that certainly belong to this containerd.
 */
export async function killLeftoverProcesses(paths: ContainerdPaths): Promise<void> {
  for (const pid of await containerProcesses(paths)) kill(pid);
  for (const pid of await shimProcesses(paths)) kill(pid);
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const mountpoints = table.split('\n').map((line) => line.split(' ')[4] ?? '');
  const own = mountpoints.filter((mountpoint) => mountpoint.startsWith(`${paths.runDirectory}/`)).reverse();
  for (const mountpoint of own) await runProgram('umount', ['--lazy', mountpoint]);
}

/** A container's directory has the pid of its init process; the container id in its cgroup proves that the pid was not reused. */
async function containerProcesses({ runDirectory }: ContainerdPaths): Promise<readonly number[]> {
  const tasks = path.join(runDirectory, 'state', 'io.containerd.runtime.v2.task', 'k8s.io');
  const pids: number[] = [];
  for (const id of await readdir(tasks).catch(() => [])) {
    const pid = Number(await readFile(path.join(tasks, id, 'init.pid'), 'utf8').catch(() => ''));
    if (pid > 1 && (await textOf(`/proc/${pid}/cgroup`)).includes(id)) pids.push(pid);
  }
  return pids;
}

/** Shims are identified by the address of their containerd. */
async function shimProcesses(paths: ContainerdPaths): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const words = (await textOf(`/proc/${entry}/cmdline`)).split('\0');
    if (path.basename(words[0] ?? '').startsWith('containerd-shim') && words.includes(socketOf(paths))) pids.push(Number(entry));
  }
  return pids;
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
