import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { onAbort } from '#base';
import { type DbusCall, type DbusMessage, type DbusValue, decodeMessage, encodeCall, messageLength } from './dbus-wire.ts';

export const SYSTEM_BUS = '/run/dbus/system_bus_socket';
const MAX_AUTH_BYTES = 4096;

/** An error that the called service answered. */
export class DbusError extends Error {
  /** Such as `org.freedesktop.systemd1.UnitExists`. */
  readonly errorName: string;

  constructor({ errorName, body }: DbusMessage) {
    super(`${errorName}: ${body.join(' ')}`);
    this.errorName = errorName;
  }
}

/** A D-Bus connection as this process's user. `closed` resolves when the bus disconnects. */
export class DbusConnection implements Disposable {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #calls = new Map<number, { resolve(body: readonly DbusValue[]): void; reject(error: Error): void }>();
  readonly #listeners = new Set<(message: DbusMessage) => void>();
  #input: Buffer = Buffer.alloc(0);
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    void this.closed.then(() => this.#fail(new Error('the bus has closed the connection')));
  }

  /** The signal aborts the attempt, and closes the connection. */
  static async open(path: string, { userId, signal }: { readonly userId: number; readonly signal: AbortSignal }): Promise<DbusConnection> {
    const socket = createConnection(path);
    const connection = new DbusConnection(socket);
    const abort = onAbort(signal, (reason) => socket.destroy(reason as Error));
    void connection.closed.then(() => abort[Symbol.dispose]());
    await once(socket, 'connect');
    try {
      await connection.#authenticate(userId);
      socket.on('data', (chunk: Buffer) => connection.#receive(chunk));
      await connection.call({ destination: BUS, path: '/org/freedesktop/DBus', interface: BUS, member: 'Hello' });
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  async #authenticate(userId: number): Promise<void> {
    const id = Buffer.from(String(userId)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${id}\r\n`);
    let answer = '';
    while (!answer.includes('\r\n')) {
      const [chunk] = (await once(this.#socket, 'data')) as [Buffer];
      answer += chunk.toString('latin1');
      if (answer.length > MAX_AUTH_BYTES) throw new Error('the bus does not speak D-Bus');
    }
    if (!answer.startsWith('OK ')) throw new Error(`the bus refused the connection: ${answer.trim()}`);
    this.#socket.write('BEGIN\r\n');
  }

  call(call: DbusCall): Promise<readonly DbusValue[]> {
    const serial = ++this.#serial;
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the bus has closed the connection'));
      this.#calls.set(serial, { resolve, reject });
      this.#socket.write(encodeCall(serial, call));
    });
  }

  /** Calls the listener for matching signals until the connection closes. */
  async watch(rule: string, listener: (signal: DbusMessage) => void): Promise<void> {
    this.#listeners.add(listener);
    await this.call({ destination: BUS, path: '/org/freedesktop/DBus', interface: BUS, member: 'AddMatch', body: [rule] });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk]);
    try {
      for (
        let length = messageLength(this.#input);
        length !== undefined && this.#input.length >= length;
        length = messageLength(this.#input)
      ) {
        this.#dispatch(decodeMessage(this.#input.subarray(0, length)));
        this.#input = this.#input.subarray(length);
      }
    } catch (error) {
      this.#fail(error as Error);
      this.#socket.destroy();
    }
  }

  #dispatch(message: DbusMessage): void {
    if (message.type === 4) {
      for (const listener of this.#listeners) listener(message);
      return;
    }
    const call = this.#calls.get(message.replySerial ?? -1);
    this.#calls.delete(message.replySerial ?? -1);
    if (message.type === 3) call?.reject(new DbusError(message));
    else call?.resolve(message.body);
  }

  #fail(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }
}

const BUS = 'org.freedesktop.DBus';
