// node datagram-load.mjs PORT HEX SECONDS: repeats a query from several sockets, several in flight on each; prints the number of replies.
import { createSocket } from 'node:dgram';

const [port, hex, seconds] = process.argv.slice(2);
const SOCKETS = 4;
const AT_A_TIME = 32;
let answers = 0;
const sockets = Array.from({ length: SOCKETS }, () => {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  let unanswered = 0;
  const ask = () => {
    for (; unanswered < AT_A_TIME; unanswered++) socket.send(Buffer.from(hex, 'hex'), Number(port), '127.0.0.1');
  };
  socket.on('message', () => {
    answers++;
    unanswered--;
    ask();
  });
  ask();
  // Sends lost queries again.
  const again = setInterval(() => {
    unanswered = 0;
    ask();
  }, 500);
  return { socket, again };
});
setTimeout(() => {
  for (const { socket, again } of sockets) {
    clearInterval(again);
    socket.close();
  }
  console.log(JSON.stringify({ answers }));
}, Number(seconds) * 1000);
