import { createSocket, type Socket } from 'node:dgram';
import { isPromise, type Logger } from '#base';
import type { DnsMetrics } from '../dns-metrics.ts';
import type { Resolver } from '../resolver.ts';

export interface DnsListener extends AsyncDisposable {
  readonly port: number;
}

export interface UdpServerDeps {
  readonly resolver: Resolver;
  readonly metrics: DnsMetrics;
  readonly logger: Logger;
}

export async function listenUdp(where: { host: string; port: number }, deps: UdpServerDeps): Promise<DnsListener> {
  const { resolver, metrics, logger } = deps;
  const socket = createSocket({ type: where.host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
  await bound(socket, where);
  let isClosed = false;
  // ICMP errors of clients that have gone are ignored.
  socket.on('error', (error) => logger.debug('a DNS reply could not be sent', { error }));
  socket.on('message', (bytes, { address, port }) => {
    // Nothing can be sent back to port 0, which only a forged datagram comes from.
    if (port === 0) return;
    const send = (reply: Buffer) => {
      if (!isClosed) socket.send(reply, port, address);
    };
    const fail = (error: unknown) => {
      metrics.panics.inc();
      logger.warn('a DNS query failed', { error });
    };
    try {
      const reply = resolver.resolve(bytes, 'udp', address);
      if (isPromise(reply)) reply.then(send, fail);
      else if (reply !== undefined) send(reply);
    } catch (error) {
      fail(error);
    }
  });
  return {
    port: socket.address().port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        isClosed = true;
        socket.close(() => resolve());
      }),
  };
}

function bound(socket: Socket, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, host, () => {
      socket.off('error', reject);
      resolve();
    });
  });
}
