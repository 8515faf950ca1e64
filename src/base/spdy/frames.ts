export const VERSION = 3;

export const FRAME = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const FLAG_FIN = 0x01;
export const FLAG_UNIDIRECTIONAL = 0x02;
export const SETTINGS_INITIAL_WINDOW_SIZE = 7;
export const MAX_STREAM_ID = 0x7fffffff;
export const HEADER_BYTES = 8;

export function dataHeader(streamId: number, flags: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt32BE(((flags << 24) | length) >>> 0, 4);
  return header;
}

export function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt16BE(0x8000 | VERSION, 0);
  header.writeUInt16BE(type, 2);
  header.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4);
  return Buffer.concat([header, payload]);
}

/** A control frame with a payload of 32-bit numbers only. */
export function numbersFrame(type: number, ...numbers: readonly number[]): Buffer {
  const payload = Buffer.allocUnsafe(numbers.length * 4);
  for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number, index * 4);
  return controlFrame(type, 0, payload);
}

export function synStreamFrame(streamId: number, flags: number, block: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt32BE(streamId, 0);
  return controlFrame(FRAME.synStream, flags, Buffer.concat([head, block]));
}

export function synReplyFrame(streamId: number, flags: number, block: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(streamId, 0);
  return controlFrame(FRAME.synReply, flags, Buffer.concat([head, block]));
}

export function initialWindowFrame(bytes: number): Buffer {
  return numbersFrame(FRAME.settings, 1, SETTINGS_INITIAL_WINDOW_SIZE, bytes);
}
