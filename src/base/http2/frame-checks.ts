import type { PayloadRange } from './frame-parser.ts';
import { ERROR, FLAG, Http2ConnectionError } from './protocol.ts';

/** Settings as identifiers and values. */
export function settingsPayload(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length);
  for (const [i, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * i);
    payload.writeUInt32BE(value, 6 * i + 2);
  }
  return payload;
}

export function removePadding(flags: number, payload: PayloadRange): void {
  if ((flags & FLAG.PADDED) === 0) return;
  const padding = payload.start < payload.end ? payload.bytes[payload.start]! : 0;
  payload.start++;
  payload.end -= padding;
  if (payload.start > payload.end) throw violation('padding longer than its frame');
}

export function expectLength(payload: PayloadRange, length: number): void {
  if (payload.end - payload.start !== length) throw new Http2ConnectionError(ERROR.FRAME_SIZE_ERROR, 'a frame of a wrong length');
}

export function windowTooLarge(): Http2ConnectionError {
  return new Http2ConnectionError(ERROR.FLOW_CONTROL_ERROR, 'a window is too large');
}

export function violation(message: string): Http2ConnectionError {
  return new Http2ConnectionError(ERROR.PROTOCOL_ERROR, message);
}

export function calm(message: string): Http2ConnectionError {
  return new Http2ConnectionError(ERROR.ENHANCE_YOUR_CALM, message);
}
