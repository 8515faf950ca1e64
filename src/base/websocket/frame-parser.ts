import { applyMask } from './mask.ts';
import { CLOSE, WebSocketError } from './websocket-error.ts';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Receives parsed messages, in pieces. */
export interface MessageSink {
  messageStart(isText: boolean): void;
  messageData(chunk: Buffer): void;
  messageEnd(): void;
  control(opcode: number, payload: Buffer): void;
}

export interface FrameParserOptions {
  /** Clients mask their data, servers do not. */
  readonly expectsMask: boolean;
}

const MAX_HEADER_BYTES = 14;
const MAX_CONTROL_BYTES = 125;

/** Splits bytes into frames and messages. Buffers at most a frame header and a control frame. Modifies its input. */
export class FrameParser {
  readonly #header = Buffer.alloc(MAX_HEADER_BYTES);
  #headerLength = 0;
  #headerNeeds = 2;
  #isInPayload = false;
  #left = 0;
  #payloadAt = 0;
  readonly #mask = Buffer.alloc(4);
  #control: Buffer[] = [];
  #isInMessage = false;

  constructor(
    private readonly sink: MessageSink,
    private readonly options: FrameParserOptions,
  ) {}

  /** Throws a WebSocketError on protocol violations. */
  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#isInPayload ? this.#readPayload(chunk, at) : this.#readHeader(chunk, at);
      if (this.#isInPayload && this.#left === 0) this.#endFrame();
    }
  }

  get #opcode(): number {
    return this.#header[0]! & 0x0f;
  }

  get #isControl(): boolean {
    return this.#opcode >= 8;
  }

  get #isFinal(): boolean {
    return (this.#header[0]! & 0x80) !== 0;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#headerNeeds - this.#headerLength);
    chunk.copy(this.#header, this.#headerLength, at, end);
    this.#headerLength += end - at;
    if (this.#headerLength < this.#headerNeeds) return end;
    if (this.#headerLength === 2) {
      this.#checkStart();
      const lengthBytes = { 126: 2, 127: 8 }[this.#header[1]! & 0x7f] ?? 0;
      this.#headerNeeds = 2 + lengthBytes + (this.options.expectsMask ? 4 : 0);
      if (this.#headerNeeds > 2) return end;
    }
    this.#beginPayload();
    return end;
  }

  #checkStart(): void {
    const [first = 0, second = 0] = this.#header;
    if ((first & 0x70) !== 0) throw new WebSocketError(CLOSE.protocolError, 'a frame with reserved bits');
    if (((second & 0x80) !== 0) !== this.options.expectsMask)
      throw new WebSocketError(
        CLOSE.protocolError,
        this.options.expectsMask ? 'a frame of a client without a mask' : 'a masked frame of a server',
      );
    if (this.#isControl) {
      if (!this.#isFinal || (second & 0x7f) > MAX_CONTROL_BYTES || this.#opcode > OPCODE.pong)
        throw new WebSocketError(CLOSE.protocolError, 'a malformed control frame');
      return;
    }
    if (this.#opcode > OPCODE.binary) throw new WebSocketError(CLOSE.protocolError, `a frame with opcode ${this.#opcode}`);
    if ((this.#opcode === OPCODE.continuation) !== this.#isInMessage)
      throw new WebSocketError(CLOSE.protocolError, this.#isInMessage ? 'a message inside of a message' : 'a continuation of nothing');
  }

  #beginPayload(): void {
    const short = this.#header[1]! & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (short === 127 && this.#header.readUInt32BE(2) > 0x1fffff) throw new WebSocketError(CLOSE.tooBig, 'a frame that is too long');
    this.#left = short === 127 ? Number(this.#header.readBigUInt64BE(2)) : short === 126 ? this.#header.readUInt16BE(2) : short;
    if (this.options.expectsMask) this.#header.copy(this.#mask, 0, 2 + lengthBytes, 6 + lengthBytes);
    this.#payloadAt = 0;
    this.#isInPayload = true;
    if (this.#isControl || this.#opcode === OPCODE.continuation) return;
    this.#isInMessage = true;
    this.sink.messageStart(this.#opcode === OPCODE.text);
  }

  #readPayload(chunk: Buffer, at: number): number {
    const part = chunk.subarray(at, at + this.#left);
    if (this.options.expectsMask) applyMask(part, this.#mask, this.#payloadAt & 3);
    this.#left -= part.length;
    this.#payloadAt += part.length;
    if (this.#isControl) this.#control.push(part);
    else this.sink.messageData(part);
    return at + part.length;
  }

  #endFrame(): void {
    this.#isInPayload = false;
    this.#headerLength = 0;
    this.#headerNeeds = 2;
    if (this.#isControl) {
      const payload = Buffer.concat(this.#control);
      this.#control = [];
      this.sink.control(this.#opcode, payload);
    } else if (this.#isFinal) {
      this.#isInMessage = false;
      this.sink.messageEnd();
    }
  }
}
