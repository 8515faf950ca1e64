import { access, constants, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';

/** Directories of administrative programs, which may be missing in PATH. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin'];

/** Finds a program: in the directories of `searchPath` (as in PATH), then in the usual ones. */
export async function findProgram(name: string, searchPath: string, standardPath: readonly string[] = SBIN): Promise<string | undefined> {
  const directories = searchPath.split(path.delimiter).filter((directory) => path.isAbsolute(directory));
  for (const directory of [...directories, ...standardPath]) {
    const file = path.join(directory, name);
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return file;
  }
  return undefined;
}

const CAP_SYS_RESOURCE = 24n;

export async function mayLowerOomScore(): Promise<boolean> {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

/** Whether overlayfs works here: not on every file system, nor inside every container. */
export async function supportsOverlay(directory: string): Promise<boolean> {
  const probe = path.join(directory, 'overlay-probe');
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => path.join(probe, name)) as [
    string,
    string,
    string,
    string,
  ];
  // Colons and commas separate mount options.
  if (/[:,\\]/.test(probe)) return false;
  try {
    for (const part of [lower, upper, work, merged]) await mkdir(part, { recursive: true });
    await runProgram('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, merged]);
    await runProgram('umount', [merged]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
