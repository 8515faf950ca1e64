// Sends bytes that it created at its start: the cost of Node, TLS and the driver alone, as the baseline of the API server's benchmark.
// Takes its responses on its input, and prints its port on its output.
import https from 'node:https';

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { key, cert, created, patched, items } = JSON.parse(Buffer.concat(input).toString());

const listOf = (count) =>
  Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[${Array(count).fill(created).join(',')}]}`);
const answers = { all: listOf(items.all), page: listOf(items.page), selected: listOf(items.selected) };
const pod = Buffer.from(created);
const patchedPod = Buffer.from(patched);
const watchers = new Set();

const server = https.createServer({ key, cert }, (request, response) => {
  request.resume();
  if (request.url.includes('watch=1')) return watch(response);
  request.once('end', () => {
    if (request.headers['content-type'] === 'application/merge-patch+json') tick(request.url);
    const body = answerTo(request);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
// A connection that is idle during one phase is used again in the next.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.once('SIGTERM', () => process.exit());

function answerTo({ method, url }) {
  if (method === 'PATCH') return patchedPod;
  if (method !== 'GET' || /\/p-\d+$/.test(url)) return pod;
  if (url.includes('labelSelector=')) return answers.selected;
  return url.includes('limit=') ? answers.page : answers.all;
}

function watch(response) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  watchers.add(response);
  response.once('close', () => watchers.delete(response));
}

/** Created once, as large as a real frame. */
function tick(url) {
  const number = url.slice(url.lastIndexOf('-') + 1);
  const object = patched.replace('"annotations":{', `"annotations":{"bench-tick":"${number}",`);
  const frame = Buffer.from(`{"type":"MODIFIED","object":${object}}\n`);
  for (const response of watchers) response.write(frame);
}
