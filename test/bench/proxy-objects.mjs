// node proxy-objects.mjs PORT TOKEN SERVICES ENDPOINTS: creates services with endpoints, for a proxy to serve.
import https from 'node:https';

const [port, token, services, count] = process.argv.slice(2);
const agent = new https.Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });

function create(path, object) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = https.request({ agent, port, path, method: 'POST', headers }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 201) resolve();
        else reject(new Error(`${path}: ${response.statusCode}`));
      });
    });
    request.once('error', reject).end(JSON.stringify(object));
  });
}

async function createService(i) {
  const name = `s${i}`;
  await create('/api/v1/namespaces/default/services', { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  const endpoints = Array.from({ length: Number(count) }, (_, e) => ({ addresses: [`10.${(i >> 8) & 255}.${i & 255}.${1 + e}`] }));
  await create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints,
  });
}

let next = 0;
async function worker() {
  while (next < Number(services)) await createService(next++);
}
await Promise.all(Array.from({ length: 16 }, worker));
agent.destroy();
