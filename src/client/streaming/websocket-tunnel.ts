import { Duplex } from 'node:stream';
import { WebSocketConnection } from '#base';

/** A byte stream in the binary messages of a WebSocket, regardless of message boundaries. */
export function webSocketTunnel(transport: Duplex, role: 'server' | 'client'): Duplex {
  const tunnel: Duplex = new Duplex({
    allowHalfOpen: true,
    read: () => socket.resume(),
    write: (chunk: Buffer, _encoding, done) => socket.send([chunk], { sent: done }),
    final: (done) => {
      socket.close();
      done();
    },
    destroy: (error, done) => {
      if (!socket.isClosed) socket.close();
      done(error);
    },
  });
  tunnel.on('error', () => {});
  const socket = new WebSocketConnection(transport, {
    role,
    sink: {
      messageStart: () => {},
      messageData: (chunk) => {
        if (!tunnel.destroyed && !tunnel.push(chunk)) socket.pause();
      },
      messageEnd: () => {},
    },
  });
  void socket.closed.then(() => {
    // Received data is still readable.
    tunnel.once('end', () => tunnel.destroy());
    if (!tunnel.destroyed) tunnel.push(null);
  });
  return tunnel;
}
