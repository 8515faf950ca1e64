import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { duplexPair } from '#base';

const METHODS = ['GET ', 'HEAD', 'POST', 'PUT ', 'DELE', 'PATC', 'OPTI'];

/** A server behind every port of a simulated pod: answers HTTP with a description of the request, and echoes everything else. */
export function simulatedPort(podName: string, port: number): Duplex {
  const { near, far } = duplexPair();
  far.on('error', () => {});
  near.on('error', () => {});
  far.once('data', (chunk: Buffer) => {
    far.pause();
    far.unshift(chunk);
    if (METHODS.includes(chunk.toString('latin1', 0, 4))) serveHttp(far, podName, port);
    else far.pipe(far);
  });
  return near;
}

function serveHttp(connection: Duplex, podName: string, port: number): void {
  // errors: it does not listen; those of its one connection are handled above
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= 65_536) chunks.push(chunk);
    });
    request.on('end', () => {
      if (request.url === '/redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
      if (request.url === '/page') return void response.setHeader('content-type', 'text/html').end('<a href="/elsewhere">here</a>\n');
      const { method, url, headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(
        `${JSON.stringify({ pod: podName, port, method, url, headers, body: Buffer.concat(chunks).toString(), bodyBytes: length })}\n`,
      );
    });
  });
  server.on('upgrade', (_request, socket: Duplex, head: Buffer) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n');
    if (head.length > 0) socket.write(head);
    socket.pipe(socket);
  });
  server.emit('connection', connection);
  connection.resume();
}
