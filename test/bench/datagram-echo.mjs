// Sends every datagram back: the cost of Node's sockets alone. Prints its port as JSON.
import { createSocket } from 'node:dgram';

const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
socket.on('message', (message, { port, address }) => socket.send(message, port, address));
socket.bind(0, '127.0.0.1', () => console.log(JSON.stringify({ port: socket.address().port })));
