// A small image registry (Docker's registry protocol, version 2) for tests: `node registry-program.mjs PORT IMAGES.json`.
// IMAGES: { username, password, images: { "name:tag": { manifest, mediaType, blobs: { digest: base64 } } }, broken: [digest], slow: [digest] }

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const [port, file] = process.argv.slice(2);
const { username, password, images, broken = [], slow = [] } = JSON.parse(readFileSync(file, 'utf8'));
const expected = username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function fail(response, status, code) {
  response.writeHead(status, { 'content-type': 'application/json', ...(status === 401 && { 'www-authenticate': 'Basic realm="test"' }) });
  response.end(JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }));
}

function send(response, request, { type, body }) {
  response.writeHead(200, {
    'content-type': type,
    'content-length': body.length,
    'docker-content-digest': `sha256:${createHash('sha256').update(body).digest('hex')}`,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

createServer(async (request, response) => {
  if (expected !== undefined && request.headers.authorization !== expected) return fail(response, 401, 'UNAUTHORIZED');
  const [, name, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(request.url) ?? [];
  if (name === undefined) return response.end('{}');
  const tagged = Object.entries(images).filter(([image]) => image.slice(0, image.lastIndexOf(':')) === name);
  if (kind === 'manifests') {
    const match = tagged.find(([image, { manifest }]) => {
      const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
      return image === `${name}:${reference}` || digest === reference;
    });
    if (match === undefined) return fail(response, 404, 'MANIFEST_UNKNOWN');
    return send(response, request, { type: match[1].mediaType, body: Buffer.from(match[1].manifest) });
  }
  const blob = tagged.map(([, { blobs }]) => blobs[reference]).find((content) => content !== undefined);
  if (blob === undefined) return fail(response, 404, 'BLOB_UNKNOWN');
  const body = Buffer.from(blob, 'base64');
  if (broken.includes(reference)) body[Math.floor(body.length / 2)] ^= 0xff;
  if (slow.includes(reference)) await wait(1_000);
  send(response, request, { type: 'application/octet-stream', body });
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
