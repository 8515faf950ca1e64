import type { Duplex } from 'node:stream';
import { WEBSOCKET_CLOSE, WebSocketConnection } from '#base';
import { agreeOnUpgrade, type Upgrade } from './upgrade.ts';
import type { HeaderLookup } from './upgrade-headers.ts';

const BASE64_PROTOCOL = 'base64.binary.k8s.io';
const PROTOCOLS = { spdy: [], websocket: ['binary.k8s.io', BASE64_PROTOCOL] };

/** Sends bytes as messages of a WebSocket, as logs are read over one; the first message is empty. Throws an UpgradeError. */
export function acceptByteStream(header: HeaderLookup, body: AsyncIterable<Uint8Array>): Upgrade {
  const { protocol, headers } = agreeOnUpgrade(header, PROTOCOLS);
  return { headers, serve: (connection) => sendAll(connection, body, protocol === BASE64_PROTOCOL) };
}

async function sendAll(connection: Duplex, body: AsyncIterable<Uint8Array>, isText: boolean): Promise<void> {
  const ignore = () => {};
  const socket = new WebSocketConnection(connection, {
    role: 'server',
    sink: { messageStart: ignore, messageData: ignore, messageEnd: ignore },
  });
  const send = (chunk: Buffer) =>
    new Promise<void>((resolve, reject) => {
      const data = isText ? Buffer.from(chunk.toString('base64')) : chunk;
      socket.send([data], { isText, sent: (error) => (error ? reject(error) : resolve()) });
    });
  try {
    await send(Buffer.alloc(0));
    for await (const chunk of body) await send(Buffer.from(chunk));
    socket.close();
  } catch {
    socket.close(WEBSOCKET_CLOSE.internalError);
  }
  await socket.closed;
}
