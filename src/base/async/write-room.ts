import type { Writable } from 'node:stream';

/** What may wait to be written: with less, TLS makes small records and a turn of the event loop writes little. */
const MAX_PENDING_BYTES = 256 * 1024;

/** Whether a sender of bulk data should write on. If not, 'drain' follows. */
export function hasRoom(transport: Writable): boolean {
  // 'drain' comes only after a refused write.
  return !transport.writableNeedDrain || transport.writableLength < MAX_PENDING_BYTES;
}
