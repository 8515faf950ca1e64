import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DbusConnection } from '../dbus/dbus-connection.ts';

const MANAGER = { destination: 'org.freedesktop.login1', path: '/org/freedesktop/login1' };

/** A source of shutdown notifications that can delay the shutdown. */
export interface ShutdownSource {
  /** Resolves when the connection is lost. */
  readonly closed: Promise<void>;
  /** The maximum delay. */
  readonly maxDelayMs: number;
  [Symbol.dispose](): void;
}

export interface LogindOptions {
  readonly socketPath: string;
  readonly userId: number;
  /** Closes the connection. */
  readonly signal: AbortSignal;
  /** True: the machine is shutting down; false: the shutdown was cancelled. */
  onShutdown(isShuttingDown: boolean): void;
}

/** systemd-logind on the system bus. */
export async function openLogind({ socketPath, userId, signal, onShutdown }: LogindOptions): Promise<ShutdownSource> {
  const bus = await DbusConnection.open(socketPath, { userId, signal });
  try {
    const get = { ...MANAGER, interface: 'org.freedesktop.DBus.Properties', member: 'Get' };
    const [delayUs] = await bus.call({ ...get, body: ['org.freedesktop.login1.Manager', 'InhibitDelayMaxUSec'] });
    await bus.watch("type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'", ({ member, body }) => {
      if (member === 'PrepareForShutdown') onShutdown(body[0] === true);
    });
    return {
      closed: bus.closed,
      maxDelayMs: Number(delayUs ?? 0) / 1000,
      [Symbol.dispose]: () => bus[Symbol.dispose](),
    };
  } catch (error) {
    bus[Symbol.dispose]();
    throw error;
  }
}

/** Delays the shutdown until disposed. logind passes inhibitor locks as file descriptors, which Node.js cannot receive: systemd-inhibit holds one. */
export async function holdInhibitor(): Promise<AsyncDisposable> {
  const detail = 'Kubelet needs time to handle node shutdown';
  const words = ['--what=shutdown', '--who=kubelet', `--why=${detail}`, '--mode=delay', 'sleep', 'infinity'];
  const child = spawn('systemd-inhibit', words, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).on('error', () => resolve()));
  await once(child, 'spawn');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
