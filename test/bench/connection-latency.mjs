// serve HOST: sends a byte on each connection, and prints its port. measure COUNT HOST PORT HOST PORT: connects to both in turn until the
// first byte, COUNT times each, and prints the times in microseconds, sorted.
import net from 'node:net';

const [command, ...rest] = process.argv.slice(2);

function connect(host, port) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const socket = net.connect({ host, port });
    socket.once('error', reject);
    socket.once('data', () => {
      resolve((performance.now() - started) * 1000);
      socket.resetAndDestroy();
    });
  });
}

async function measure([count, ...targets]) {
  const [direct, service] = [targets.slice(0, 2), targets.slice(2)];
  const times = { direct: [], service: [] };
  for (let i = -100; i < Number(count); i++) {
    const pair = [await connect(...direct), await connect(...service)];
    // Warm-up.
    if (i >= 0) [times.direct[i], times.service[i]] = pair;
  }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  console.log(JSON.stringify(times));
}

if (command === 'serve') {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.write('x');
  });
  server.listen(0, rest[0], () => console.log(server.address().port));
} else await measure(rest);
