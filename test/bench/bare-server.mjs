// Does the minimum of a durable object server, without anything specific to Kubernetes: reads JSON, stores objects and their bytes in LMDB
// before it responds, and notifies watchers. No authentication, validation or field ownership. Together with the server of fixed bytes it
// shows the limit of Node on this machine. Takes commands on its input, and prints its port on its output.
import { randomUUID } from 'node:crypto';
import https from 'node:https';
import { open } from 'lmdb';

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { key, cert, created, directory } = JSON.parse(Buffer.concat(input).toString());

/** What the Kubernetes API server adds to a pod, so that objects have the same size. */
const template = JSON.parse(created);
const database = open(`${directory}/bare.mdb`, { encoding: 'binary', overlappingSync: false, noSubdir: true, noMemInit: true });
const objects = new Map();
const watchers = new Set();
let revision = 1;
let unsent = [];

const server = https.createServer({ key, cert }, (request, response) => {
  const [path, query = ''] = request.url.split('?');
  if (query.includes('watch=1')) return watch(response);
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.once('end', async () => {
    const body = await answerTo(request.method, { path, query, sent: chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
// A connection that is idle during one phase is used again in the next.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.once('SIGTERM', () => process.exit());

function answerTo(method, { path, query, sent }) {
  switch (method) {
    case 'POST':
      return write(`${path}/${sent.metadata.name}`, createdFrom(sent), 'ADDED');
    case 'PATCH':
      return write(path.replace(/\/status$/, ''), merged(objects.get(path.replace(/\/status$/, '')).object, sent), 'MODIFIED');
    case 'DELETE':
      return remove(path);
    default:
      return objects.get(path)?.bytes ?? list(query);
  }
}

function createdFrom({ metadata, spec, ...rest }) {
  const stamped = { ...template.metadata, ...metadata, uid: randomUUID(), creationTimestamp: new Date().toISOString() };
  return { ...template, ...rest, metadata: stamped, spec: { ...template.spec, ...spec } };
}

async function write(path, object, type) {
  object.metadata = { ...object.metadata, resourceVersion: String(++revision) };
  const bytes = Buffer.from(JSON.stringify(object));
  await database.put(path, bytes);
  objects.set(path, { object, bytes });
  if (watchers.size > 0) tell(`{"type":"${type}","object":${bytes}}\n`);
  return bytes;
}

async function remove(path) {
  const { bytes } = objects.get(path);
  await database.remove(path);
  objects.delete(path);
  return bytes;
}

function merged(target, patch) {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = { ...target };
  for (const name in patch) result[name] = merged(target?.[name], patch[name]);
  return result;
}

function list(query) {
  const params = new URLSearchParams(query);
  const shard = /shard=(\w+)/.exec(params.get('labelSelector') ?? '')?.[1];
  const all = [...objects.values()].filter(({ object }) => shard === undefined || object.metadata.labels.shard === shard);
  const items = all.slice(0, Number(params.get('limit') ?? all.length));
  const parts = items.flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [COMMA, bytes]));
  return Buffer.concat([
    Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${revision}"},"items":[`),
    ...parts,
    END,
  ]);
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

function watch(response) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  watchers.add(response);
  response.once('close', () => watchers.delete(response));
}

const PAUSE_MS = 2;

/** Events in quick succession are sent together. */
function tell(frame) {
  unsent.push(frame);
  if (unsent.length > 1) return;
  setTimeout(() => {
    const frames = Buffer.from(unsent.join(''));
    unsent = [];
    for (const response of watchers) response.write(frames);
  }, PAUSE_MS);
}
