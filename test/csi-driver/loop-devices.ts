import { runProgram } from '#base';

/** The loop device of a file; undefined when there is none. */
export async function loopDeviceOf(file: string): Promise<string | undefined> {
  const text = await runProgram('losetup', ['--noheadings', '--output', 'NAME', '--associated', file]);
  return text.trim().split('\n')[0] || undefined;
}

export async function attachLoopDevice(file: string): Promise<string> {
  return (await loopDeviceOf(file)) ?? (await runProgram('losetup', ['--find', '--show', file])).trim();
}

export async function detachLoopDevice(file: string): Promise<void> {
  const device = await loopDeviceOf(file);
  if (device !== undefined) await runProgram('losetup', ['--detach', device]);
}
