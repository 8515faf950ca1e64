import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../time/virtual-clock.ts';
import { DeadPeerMonitor } from './dead-peer-monitor.ts';

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const IDLE = '02:00000400 00000000     0        0 101 2 0000000000000000 20 4 30 10 -1';
const row = (ends: string, timer: string) => `   0: ${ends} 01 00000100:00000000 ${timer}`;
const retransmits = (count: number) =>
  `01:00000400 ${count.toString(16).padStart(8, '0')}     0        0 101 3 0000000000000000 20 4 30 10 -1`;
const probes = (count: number) => `04:00000400 00000000     0        ${count} 101 3 0000000000000000 20 4 30 10 -1`;

const IPV4 = '0100007F:192B 026433C6:A71E';
const IPV4_IN_IPV6 = '0000000000000000FFFF00000100007F:192B 0000000000000000FFFF0000026433C6:A71E';
const IPV6 = 'B80D0120000000000000000001000000:192B B80D0120000000000000000002000000:A71E';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-tcp-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function socketTo(remoteAddress: string): Socket {
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  socket.on('error', () => {});
  return Object.assign(socket, { localPort: 6443, remoteAddress, remotePort: 42_782 }) as unknown as Socket;
}

/** Whether the socket is still open after the kernel's table had each of these rows in turn, one per interval. */
async function livesAfter(remoteAddress: string, rows: readonly string[]): Promise<boolean> {
  const clock = new VirtualClock();
  const table = path.join(directory, 'tcp');
  using monitor = new DeadPeerMonitor({ clock, intervalMs: 15_000, patienceMs: 30_000, tables: [table, path.join(directory, 'absent')] });
  const socket = socketTo(remoteAddress);
  monitor.add(socket);
  for (const text of rows) {
    writeFileSync(table, `${HEADER}\n${text}\n`);
    await clock.advance(15_000);
    // The table is read from a file: the next timer is set when that is done.
    await expect.poll(() => clock.pendingTimers > 0 || socket.destroyed).toBe(true);
  }
  return !socket.destroyed;
}

test.each([
  ['IPv4', '198.51.100.2', IPV4, retransmits],
  ['IPv4 inside of IPv6', '::ffff:198.51.100.2', IPV4_IN_IPV6, retransmits],
  ['IPv6', '2001:db8::2', IPV6, retransmits],
  ['IPv4, which has a full buffer', '198.51.100.2', IPV4, probes],
])('a peer over %s that acknowledges nothing is given up', async (_, address, ends, timer) => {
  expect(await livesAfter(address, [row(ends, timer(6)), row(ends, timer(7)), row(ends, timer(8))])).toBe(false);
});

test.each([
  ['is idle', [row(IPV4, IDLE), row(IPV4, IDLE), row(IPV4, IDLE), row(IPV4, IDLE)]],
  ['acknowledges in between', [row(IPV4, retransmits(6)), row(IPV4, retransmits(7)), row(IPV4, IDLE), row(IPV4, retransmits(6))]],
  ['loses packets again and again', [6, 5, 4, 3, 2].map((count) => row(IPV4, retransmits(count)))],
  ['loses few packets', [1, 1, 2, 2, 3].map((count) => row(IPV4, retransmits(count)))],
  ['is another one', [6, 7, 8, 9].map((count) => row(IPV6, retransmits(count)))],
])('a peer that %s is left alone', async (_, rows) => {
  expect(await livesAfter('198.51.100.2', rows)).toBe(true);
});
