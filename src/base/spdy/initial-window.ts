import { MAX_WINDOW_BYTES } from './data-sender.ts';
import { SETTINGS_INITIAL_WINDOW_SIZE } from './frames.ts';
import { SpdyError } from './spdy-error.ts';

const ENTRY_BYTES = 8;

/** The initial window that the payload of a SETTINGS frame sets. Undefined: none. */
export function initialWindowIn(payload: Buffer): number | undefined {
  const count = payload.length >= 4 ? payload.readUInt32BE(0) : -1;
  if (payload.length !== 4 + count * ENTRY_BYTES) throw new SpdyError('protocolError', 'a SETTINGS frame whose length is wrong');
  let window: number | undefined;
  for (let at = 4; at < payload.length; at += ENTRY_BYTES) {
    if (payload.readUIntBE(at + 1, 3) !== SETTINGS_INITIAL_WINDOW_SIZE) continue;
    window = payload.readUInt32BE(at + 4);
    if (window > MAX_WINDOW_BYTES) throw new SpdyError('protocolError', `an initial window of ${window} bytes`);
  }
  return window;
}
