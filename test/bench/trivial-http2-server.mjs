// Sends protobuf over HTTP/2 that it created at its start: the cost of Node, TLS and the driver alone, as the baseline of the client-go
// profile. Takes its responses on its input, and prints its port on its output.
import http2 from 'node:http2';
import { gzipSync } from 'node:zlib';

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { key, cert, created, count } = JSON.parse(Buffer.concat(input).toString());

const pod = Buffer.from(created, 'base64');
const listOf = (length) => Buffer.concat(Array(length).fill(pod));
const answers = { all: listOf(count), page: listOf(500), gzip: gzipSync(listOf(count), { level: 1 }) };
const frame = frameOf('ADDED', pod);
const state = Buffer.concat([...Array(count).fill(frame), frameOf('BOOKMARK', Buffer.alloc(32))]);
const tick = frameOf('MODIFIED', pod);
const watchers = new Set();

const server = http2.createSecureServer({ key, cert, maxSessionMemory: 4000, settings: { initialWindowSize: 1 << 20 } });
server.on('stream', (stream, headers) => {
  const { ':path': path, ':method': method } = headers;
  stream.on('error', () => {});
  if (path.includes('watch=true')) return watch(stream);
  stream.resume();
  stream.once('end', () => {
    if (method === 'PATCH') for (const watcher of watchers) watcher.write(tick);
    const body = answerTo(method, path, headers);
    stream.respond({ ':status': 200, 'content-length': body.length });
    stream.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.once('SIGTERM', () => process.exit());

function answerTo(method, path, headers) {
  if (method !== 'GET' || /\/p-\d+$/.test(path)) return pod;
  if (headers['accept-encoding'] === 'gzip') return answers.gzip;
  return path.includes('limit=') ? answers.page : answers.all;
}

function watch(stream) {
  stream.respond({ ':status': 200 });
  stream.write(state);
  watchers.add(stream);
  stream.once('close', () => watchers.delete(stream));
}

/** As large as a real frame: a length, the type, the object. */
function frameOf(type, object) {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from([0x0a, type.length]), Buffer.from(type), object]);
  bytes.writeUInt32BE(bytes.length - 4, 0);
  return bytes;
}
