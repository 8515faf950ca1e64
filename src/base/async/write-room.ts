import type { Writable } from 'node:stream';

/** The size of the write buffer: with a smaller one, TLS creates small records and little is written per turn of the event loop. */
const MAX_PENDING_BYTES = 256 * 1024;

/** Whether a sender of bulk data should write on. If not, 'drain' follows. */
export function hasRoom(transport: Writable): boolean {
  // 'drain' comes only after a refused write.
  return !transport.writableNeedDrain || transport.writableLength < MAX_PENDING_BYTES;
}
