// The cost of one TLS connection in Node alone: receives everything, or sends a number of bytes. Takes commands on its input, and prints
// its port on its output.
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
