import { open } from 'node:fs/promises';
import type { ContainerStatus } from '../cri/runtime.ts';
import { tailEntries } from '../logs/log-tail.ts';
import { TERMINATION_PATH, TERMINATION_POLICY } from '../pods/labels.ts';

const MAX_BYTES = 4096;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

/** The termination message of an exited container: from its file, or from the end of its log if its policy says so. */
export async function terminationMessage(status: ContainerStatus): Promise<string> {
  const { annotations, exitCode, reason, logPath } = status;
  const path = annotations[TERMINATION_PATH] ?? '';
  const file = status.mounts.find(({ containerPath }) => path !== '' && containerPath === (path.startsWith('/') ? path : `/${path}`));
  const message = file === undefined ? '' : await lastBytes(file.hostPath);
  const fallsBack = annotations[TERMINATION_POLICY] === 'FallbackToLogsOnError' && exitCode !== 0 && reason !== 'ContainerCannotRun';
  return message === '' && fallsBack ? lastLines(logPath) : message;
}

async function lastBytes(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, MAX_BYTES));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - MAX_BYTES));
    return buffer.subarray(0, bytesRead).toString('utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? '' : `Error on reading termination log ${path}: ${message}`;
  }
}

async function lastLines(logPath: string): Promise<string> {
  try {
    const entries = await tailEntries(logPath, MAX_LOG_LINES);
    const text = Buffer.concat(entries.map(({ content }) => content));
    return text.subarray(Math.max(0, text.length - MAX_LOG_BYTES)).toString('utf8');
  } catch (error) {
    return `Error on reading termination message from logs: ${(error as Error).message}`;
  }
}
