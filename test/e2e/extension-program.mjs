// An operator's pod: admission and conversion webhooks, an aggregated API server and a token issuer, in one program. Everything it needs is
// in the directory of its first argument.
import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';

const read = (name) => readFileSync(path.join(process.argv[2], name), 'utf8');
const GROUP = 'fruit.example.com';
const API = `/apis/${GROUP}/v1`;
const RESOURCES = [{ name: 'apples', singularName: 'apple', namespaced: true, kind: 'Apple', verbs: ['get', 'list', 'watch'] }];
const apple = (color) => ({ kind: 'Apple', apiVersion: `${GROUP}/v1`, metadata: { name: 'red', namespace: 'default' }, color });

function review(request) {
  const { uid, object } = request;
  if (object.data?.forbidden) return { uid, allowed: false, status: { message: 'not in this cluster' }, warnings: ['asked a pod'] };
  return { uid, allowed: true };
}

function mutate({ uid }) {
  const patch = [{ op: 'add', path: '/data/mutated', value: 'by a pod' }];
  return { uid, allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

/** v1 has `size: "3x4"`, v2 `size: { width: 3, height: 4 }`. */
function convert({ uid, desiredAPIVersion, objects }) {
  const toV2 = desiredAPIVersion.endsWith('/v2');
  const convertedObjects = objects.map((object) => {
    if (object.apiVersion === desiredAPIVersion) return object;
    const [width, height] = toV2 ? object.size.split('x').map(Number) : [object.size.width, object.size.height];
    return { ...object, apiVersion: desiredAPIVersion, size: toV2 ? { width, height } : `${width}x${height}` };
  });
  return { uid, convertedObjects, result: { status: 'Success' } };
}

const REVIEWS = { '/validate': review, '/mutate': mutate, '/convert': convert };
const DOCUMENTS = {
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  [API]: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources: RESOURCES },
  '/.well-known/openid-configuration': { issuer: read('issuer'), jwks_uri: `${read('issuer')}/keys` },
  '/keys': JSON.parse(read('keys')),
  [`${API}/namespaces/default/apples/red`]: apple('red'),
};

function watch(response) {
  const event = (type, color) => `${JSON.stringify({ type, object: apple(color) })}\n`;
  response.writeHead(200, { 'content-type': 'application/json' }).write(event('ADDED', 'green'));
  setTimeout(() => response.end(event('MODIFIED', 'red')), 200);
}

function answer(request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://host');
  const json = (code, value) => response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const toReview = REVIEWS[pathname];
  if (toReview !== undefined) {
    const { kind, apiVersion, request: admissionRequest } = JSON.parse(body);
    return json(200, { kind, apiVersion, response: toReview(admissionRequest) });
  }
  if (pathname.startsWith(API) && !request.socket.authorized) return json(401, { error: 'no front proxy' });
  if (pathname === `${API}/namespaces/default/apples`) {
    if (searchParams.get('watch')) return watch(response);
    return json(200, { kind: 'AppleList', apiVersion: `${GROUP}/v1`, metadata: { resourceVersion: '1' }, items: [apple('red')] });
  }
  const document = DOCUMENTS[pathname];
  return document === undefined ? json(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }) : json(200, document);
}

const options = { cert: read('tls.crt'), key: read('tls.key'), ca: read('front-proxy.crt'), requestCert: true, rejectUnauthorized: false };
const server = https.createServer(options, (request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => answer(request, response, body));
});
// A protocol like exec: sends the name of the user, then echoes.
server.on('upgrade', (request, socket) => {
  socket.on('error', () => socket.destroy());
  const user = request.socket.authorized ? request.headers['x-remote-user'] : 'nobody';
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nhello ${user}\n`);
  socket.pipe(socket);
});
server.listen(8443, () => console.log('listening'));
