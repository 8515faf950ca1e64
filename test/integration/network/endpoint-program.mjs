// Runs inside a network namespace, and listens and connects as the test requests: JSON commands on its input, JSON responses on its output,
// one per line.
import dgram from 'node:dgram';
import net from 'node:net';
import readline from 'node:readline';

const send = (id, answer) => process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);

/** Responds to each connection or datagram with its name and the peer's address. */
const commands = {
  listen({ protocol = 'tcp', port, host, name }) {
    return new Promise((resolve, reject) => {
      if (protocol === 'udp') {
        const isV6 = host?.includes(':') ?? false;
        const socket = dgram.createSocket({ type: isV6 ? 'udp6' : 'udp4', ipv6Only: isV6 });
        socket.on('message', (_, from) => socket.send(JSON.stringify({ name, from: from.address }), from.port, from.address));
        socket.once('error', reject);
        socket.bind(port, host, () => resolve({}));
        return;
      }
      const server = net.createServer((socket) => {
        socket.on('error', () => {});
        socket.write(`${JSON.stringify({ name, from: socket.remoteAddress?.replace('::ffff:', '') })}\n`);
        // Echoes everything after that, for tests of lasting connections.
        socket.pipe(socket);
      });
      server.once('error', reject);
      server.listen({ port, host: host ?? '::' }, () => resolve({}));
    });
  },
  connect({ protocol = 'tcp', host, port, localPort, timeoutMs = 1000 }) {
    return protocol === 'udp' ? askUdp({ host, port, localPort }, timeoutMs) : askTcp(host, port, timeoutMs);
  },
  /** Opens a named connection that stays open. */
  async open({ key, host, port, timeoutMs = 1000 }) {
    const socket = net.connect({ host, port });
    socket.on('error', () => {});
    mappings.set(key, socket);
    return { reply: JSON.parse(await firstLine(socket, timeoutMs)) };
  },
  async echo({ key, text, timeoutMs = 1000 }) {
    const socket = mappings.get(key);
    if (!socket || socket.destroyed) return { failure: 'closed' };
    socket.write(`${text}\n`);
    return { reply: await firstLine(socket, timeoutMs) };
  },
};
const mappings = new Map();

function firstLine(socket, timeoutMs) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(Object.assign(new Error('timeout'), { code: 'timeout' })), timeoutMs);
    const onData = (chunk) => {
      text += chunk;
      if (!text.includes('\n')) return;
      clearTimeout(timer);
      socket.off('data', onData);
      resolve(text.trim());
    };
    socket.on('data', onData);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

async function askTcp(host, port, timeoutMs) {
  const socket = net.connect({ host, port });
  socket.on('error', () => {});
  try {
    return { reply: JSON.parse(await firstLine(socket, timeoutMs)) };
  } finally {
    socket.destroy();
  }
}

function askUdp({ host, port, localPort }, timeoutMs) {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const finish = (settle, value) => {
      clearTimeout(timer);
      socket.close();
      settle(value);
    };
    const timer = setTimeout(() => finish(reject, Object.assign(new Error('timeout'), { code: 'timeout' })), timeoutMs);
    socket.once('message', (message) => finish(resolve, { reply: JSON.parse(message.toString()) }));
    socket.once('error', (error) => finish(reject, error));
    // Connected, so that a rejection is reported. Bound if the kernel must see the same flow as before.
    const ask = () => socket.connect(port, host, () => socket.send('?'));
    if (localPort === undefined) ask();
    else socket.bind(localPort, ask);
  });
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, command, ...rest } = JSON.parse(line);
  try {
    send(id, await commands[command](rest));
  } catch (error) {
    send(id, { failure: error.code ?? error.message });
  }
});
process.stdin.on('end', () => process.exit(0));
