import type { PayloadRange } from './frame-parser.ts';
import { DEFAULT_TABLE_BYTES } from './hpack/static-table.ts';
import { DEFAULT_WINDOW, ERROR, Http2ConnectionError, MAX_FRAME_BYTES, MAX_FRAME_BYTES_LIMIT, MAX_WINDOW, SETTING } from './protocol.ts';

const SETTING_BYTES = 6;

/** The peer's settings. Its maximum frame size is never below the frames that we send. */
export class PeerSettings {
  headerTableBytes = DEFAULT_TABLE_BYTES;
  initialWindow = DEFAULT_WINDOW;

  /** Throws for values that RFC 9113 forbids; settings that do not concern a server are ignored. */
  update({ bytes, start, end }: PayloadRange): void {
    for (let at = start; at < end; at += SETTING_BYTES) this.#set(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
  }

  #set(id: number, value: number): void {
    if (id === SETTING.HEADER_TABLE_SIZE) this.headerTableBytes = value;
    else if (id === SETTING.INITIAL_WINDOW_SIZE) {
      if (value > MAX_WINDOW) throw new Http2ConnectionError(ERROR.FLOW_CONTROL_ERROR, 'an initial window that is too large');
      this.initialWindow = value;
    } else if (
      (id === SETTING.ENABLE_PUSH && value > 1) ||
      (id === SETTING.MAX_FRAME_SIZE && (value < MAX_FRAME_BYTES || value > MAX_FRAME_BYTES_LIMIT))
    )
      throw new Http2ConnectionError(ERROR.PROTOCOL_ERROR, 'a setting that is out of bounds');
  }
}
