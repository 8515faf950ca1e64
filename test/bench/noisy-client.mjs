// One client with many connections that sends the next request as soon as it has a response. Stops when its parent says so.
import https from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const { port, token, path, connections } = workerData;
const agent = new https.Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
let isOver = false;
let answers = 0;

function ask() {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, agent, headers: { authorization: `Bearer ${token}` } };
    https.get(options, (response) => response.resume().once('end', resolve).once('error', reject)).once('error', reject);
  });
}

async function run() {
  while (!isOver) {
    await ask();
    answers++;
    if (answers === connections) parentPort.postMessage('busy');
  }
}

parentPort.once('message', () => {
  isOver = true;
});
await Promise.all(Array.from({ length: connections }, run));
agent.destroy();
