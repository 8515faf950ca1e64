import { createHash } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { listenOn, silentLogger } from '#base';

/**
 * Runs `act` while no other caller, in this process or another one on the machine, runs one for the same file. The lock is an abstract unix
 * socket (Linux): the kernel releases it when its holder is killed.
 */
export async function withImageLock<T>(file: string, act: () => Promise<T>): Promise<T> {
  const name = `\0sampan-image-${createHash('sha256').update(resolve(file)).digest('hex')}`;
  const lock = await acquire(name);
  try {
    return await act();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

async function acquire(name: string): Promise<AsyncDisposable> {
  for (;;) {
    const lock = await tryAcquire(name);
    if (lock !== undefined) return lock;
    await untilReleased(name);
  }
}

async function tryAcquire(name: string): Promise<AsyncDisposable | undefined> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('close', () => waiting.delete(socket)).on('error', () => socket.destroy());
  });
  try {
    await listenOn(server, { path: name }, silentLogger);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  return { [Symbol.asyncDispose]: () => release(server, waiting) };
}

/** Closes the connections of waiters, which then retry. */
function release(server: Server, waiting: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of waiting) socket.destroy();
  });
}

function untilReleased(name: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path: name });
    socket.on('error', () => socket.destroy()).on('close', () => resolve());
    socket.resume();
  });
}
