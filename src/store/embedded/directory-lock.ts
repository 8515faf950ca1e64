import { closeSync, openSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../store-error.ts';

/**
 * Locks a directory for one process by a unix socket in it: the kernel closes the listener when its holder dies, for whatever reason, and
 * others can ask for the holder's identity, across containers too.
 *
 * The socket's name has a generation. If the newest one is dead, the next generation is bound, which only one process can. Binding and
 * listening are two steps, so the others are checked again afterwards: of two concurrent holders, at least one sees the other and yields.
 */
export interface DirectoryLock {
  release(): Promise<void>;
}

const NAME = /^holder\.(\d+)$/;

export function isLockFile(name: string): boolean {
  return NAME.test(name);
}

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const descriptor = openSync(directory, 'r');
  // A socket's path may have about a hundred bytes; through the descriptor it is short for every directory.
  const path = (generation: number) =>
    join(process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : directory, `holder.${generation}`);
  try {
    const generation = await firstFree(directory, path);
    const server = await listen(path(generation), directory);
    await standAlone({ directory, path, generation, server });
    return {
      async release() {
        await close(server);
        closeSync(descriptor);
      },
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

async function generations(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** The next generation; throws when an existing one is alive. */
async function firstFree(directory: string, path: (generation: number) => string): Promise<number> {
  const existing = await generations(directory);
  for (const generation of existing) await throwIfHeld(directory, path(generation));
  return (existing.at(-1) ?? 0) + 1;
}

async function throwIfHeld(directory: string, path: string): Promise<void> {
  const holder = await askLockHolder(path);
  if (holder !== undefined) throw new StoreError('locked', `${directory} is in use by ${holder}`);
}

/** The process that holds the lock; undefined if there is none. */
function askLockHolder(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = '';
    let connected = false;
    socket.setEncoding('utf8').setTimeout(REPLY_TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('data', (text) => {
      answer += text;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(connected ? answer || 'a process that does not answer' : undefined));
  });
}

/** A stopped process still holds the directory. */
const REPLY_TIMEOUT_MS = 500;

function listen(path: string, directory: string): Promise<Server> {
  // errors: a holder that cannot accept still holds the directory
  const server = createServer((socket) => socket.on('error', () => {}).end(`process ${process.pid} on ${hostname()} (${process.title})`));
  return new Promise((resolve, reject) => {
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'locked' : 'io';
      reject(
        new StoreError(
          code,
          code === 'locked' ? `${directory} is being taken by another process` : `can not lock ${directory}: ${cause.message}`,
          { cause },
        ),
      );
    });
    server.listen(path, () => resolve(server.unref()));
  });
}

interface Claim {
  readonly directory: string;
  readonly path: (generation: number) => string;
  readonly generation: number;
  readonly server: Server;
}

/** Ensures that there is no other live holder, then removes the sockets of dead ones. */
async function standAlone({ directory, path, generation, server }: Claim): Promise<void> {
  try {
    const others = (await generations(directory)).filter((other) => other !== generation);
    for (const other of others) {
      await throwIfHeld(directory, path(other));
      if (other > generation) throw new StoreError('locked', `${directory} is being taken by another process`);
    }
    for (const other of others) await rm(join(directory, `holder.${other}`), { force: true });
  } catch (error) {
    await close(server);
    throw error;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
