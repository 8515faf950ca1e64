// Answers every request with fixed bytes: what Node itself costs, as the baseline of the API server's benchmark.
import https from 'node:https';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { key, cert } = JSON.parse(Buffer.concat(chunks).toString());
const body = Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'fixed' }, spec: { text: 'x'.repeat(3500) } }));
const server = https.createServer({ key, cert }, (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
