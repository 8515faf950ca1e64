// What Node makes of one TLS connection, and nothing else: takes all that comes, or sends as many bytes as it is told. It is told on its input what to
// do, and says on its output where it listens.
import { pipeline, Readable } from 'node:stream';
import tls from 'node:tls';

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { key, cert, bytes } = JSON.parse(Buffer.concat(input).toString());
const CHUNK = Buffer.alloc(64 * 1024);

const server = tls.createServer({ key, cert }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', (direction) => {
    if (direction.toString('latin1', 0, 1) === 'o') pipeline(source(), socket, () => {});
    else socket.resume().once('end', () => socket.end());
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.once('SIGTERM', () => process.exit());

function source() {
  let left = bytes;
  return new Readable({
    read() {
      left -= CHUNK.length;
      this.push(left >= 0 ? CHUNK : null);
    },
  });
}
