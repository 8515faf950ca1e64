import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { type DbusInput, type DbusMessage, decodeMessage, encodeBody, encodeMessage, messageLength } from './dbus-wire.ts';

export interface FakeResponse {
  /** Of the body; an error's name makes it an error. */
  readonly signature?: string;
  readonly body?: readonly DbusInput[];
  readonly errorName?: string;
}

export interface FakeSignal {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature: string;
  readonly body: readonly DbusInput[];
}

/** A bus with one client, whose calls the test answers. */
export async function openFakeBus(answer: (call: DbusMessage) => FakeResponse) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bus-'));
  let client: Socket | undefined;
  const reply = (socket: Socket, bytes: Buffer) => {
    const call = decodeMessage(bytes);
    const { signature = '', body = [], errorName } = answer(call);
    const fields = [
      [5, 'u', call.serial] as const,
      ...(signature === '' ? [] : [[8, 'g', signature] as const]),
      ...(errorName === undefined ? [] : [[4, 's', errorName] as const]),
    ];
    socket.write(encodeMessage({ type: errorName === undefined ? 2 : 3, serial: 1, fields, content: encodeBody(signature, body) }));
  };
  const server = createServer((socket) => {
    client = socket;
    let input: Buffer = Buffer.alloc(0);
    let isBegun = false;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk]);
      if (!isBegun) {
        const text = input.toString('latin1');
        const begin = text.indexOf('BEGIN\r\n');
        if (begin < 0 && text.endsWith('\r\n')) socket.write('OK 1234\r\n');
        if (begin < 0) return;
        isBegun = true;
        input = input.subarray(begin + 'BEGIN\r\n'.length);
      }
      for (let length = messageLength(input); length !== undefined && input.length >= length; length = messageLength(input)) {
        reply(socket, input.subarray(0, length));
        input = input.subarray(length);
      }
    });
  });
  const socketPath = path.join(directory, 'bus');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    server,
    socketPath,
    signal({ path: object, interface: owner, member, signature, body }: FakeSignal) {
      const fields = [[1, 'o', object] as const, [2, 's', owner] as const, [3, 's', member] as const, [8, 'g', signature] as const];
      const bytes = encodeMessage({ type: 4, serial: 2, fields, content: encodeBody(signature, body) });
      // In pieces, as a stream may bring it.
      client?.write(bytes.subarray(0, 10));
      client?.write(bytes.subarray(10));
    },
    disconnect: () => client?.destroy(),
    async [Symbol.asyncDispose]() {
      client?.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}

export type FakeBus = Awaited<ReturnType<typeof openFakeBus>>;
