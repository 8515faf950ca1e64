import { HEADER_BYTES, VERSION } from './frames.ts';
import { SpdyError } from './spdy-error.ts';

export interface ControlFrame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** Receives parsed frames. A data frame may be delivered in pieces. */
export interface FrameSink {
  control(frame: ControlFrame): void;
  data(streamId: number, chunk: Buffer): void;
  /** The end of a data frame. */
  dataEnd(streamId: number, flags: number): void;
}

/** The maximum control frame: a nearly incompressible header block. */
const MAX_CONTROL_BYTES = 72 * 1024;

/** Splits bytes into frames. Buffers at most one control frame. */
export class FrameParser {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerLength = 0;
  /** Remaining payload bytes of the current frame. */
  #left = 0;
  #isControl = false;
  #control: Buffer[] = [];

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Throws a SpdyError for invalid SPDY/3 frames. */
  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerLength < HEADER_BYTES) at = this.#readHeader(chunk, at);
      else at = this.#readPayload(chunk, at);
      if (this.#headerLength === HEADER_BYTES && this.#left === 0) this.#endFrame();
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + HEADER_BYTES - this.#headerLength);
    chunk.copy(this.#header, this.#headerLength, at, end);
    this.#headerLength += end - at;
    if (this.#headerLength < HEADER_BYTES) return end;
    this.#left = this.#header.readUIntBE(5, 3);
    this.#isControl = (this.#header[0]! & 0x80) !== 0;
    if (this.#isControl) this.#checkControl();
    return end;
  }

  #checkControl(): void {
    const version = this.#header.readUInt16BE(0) & 0x7fff;
    if (version !== VERSION) throw new SpdyError('protocolError', `frames of version ${version} are not supported`);
    if (this.#left > MAX_CONTROL_BYTES) throw new SpdyError('protocolError', `a control frame of ${this.#left} bytes`);
  }

  #readPayload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    const part = chunk.subarray(at, end);
    if (this.#isControl) this.#control.push(part);
    else this.#sink.data(this.#streamId, part);
    return end;
  }

  get #streamId(): number {
    return this.#header.readUInt32BE(0) & 0x7fffffff;
  }

  #endFrame(): void {
    this.#headerLength = 0;
    const flags = this.#header[4]!;
    if (!this.#isControl) {
      this.#sink.dataEnd(this.#streamId, flags);
      return;
    }
    const payload = this.#control.length === 1 ? this.#control[0]! : Buffer.concat(this.#control);
    this.#control = [];
    this.#sink.control({ type: this.#header.readUInt16BE(2), flags, payload });
  }
}

/** Throws a SpdyError for a control frame that is too short for its type. */
export function checkLength({ payload, type }: ControlFrame, length: number): void {
  if (payload.length < length) throw new SpdyError('protocolError', `a control frame of type ${type} with ${payload.length} bytes`);
}

/** The stream id of a frame of at least `length` bytes. */
export function idIn(frame: ControlFrame, length: number): number {
  checkLength(frame, length);
  return frame.payload.readUInt32BE(0) & 0x7fffffff;
}
