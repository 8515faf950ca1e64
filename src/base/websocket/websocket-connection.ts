import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { BulkGarbage } from '../async/bulk-garbage.ts';
import { hasRoom } from '../async/write-room.ts';
import { type StalledSide, stalledSideOf } from '../time/keep-alive.ts';
import { FrameParser, type MessageSink, OPCODE } from './frame-parser.ts';
import { applyMask } from './mask.ts';
import { CLOSE, WebSocketError } from './websocket-error.ts';

export interface WebSocketOptions {
  readonly role: 'server' | 'client';
  readonly sink: Omit<MessageSink, 'control'>;
}

export interface SendOptions {
  readonly isText?: boolean;
  /** Called when more can be written. */
  readonly sent?: (error?: Error) => void;
}

/** A peer that pings without reading the replies is disconnected. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
const MAX_REASON_BYTES = 123;

/** One WebSocket (RFC 6455) on any duplex, after the handshake. Messages are delivered in pieces, so that their size is unlimited. */
export class WebSocketConnection {
  /** Increases with all received data. */
  activity = 0;
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>;
  readonly #transport: Duplex;
  readonly #isClient: boolean;
  readonly #parser: FrameParser;
  readonly #garbage = new BulkGarbage();
  #awaitingDrain: ((error?: Error) => void)[] = [];
  #isCloseSent = false;
  #isCloseReceived = false;

  constructor(transport: Duplex, { role, sink }: WebSocketOptions) {
    this.#transport = transport;
    this.#isClient = role === 'client';
    const parsed: MessageSink = {
      messageStart: (isText) => sink.messageStart(isText),
      messageData: (chunk) => sink.messageData(chunk),
      messageEnd: () => sink.messageEnd(),
      control: (opcode, payload) => this.#handleControl(opcode, payload),
    };
    this.#parser = new FrameParser(parsed, { expectsMask: role === 'server' });
    this.closed = new Promise((resolve) => {
      transport.once('close', () => {
        this.#settleWrites(new WebSocketError(CLOSE.goingAway, 'the connection was closed'));
        resolve();
      });
    });
    transport.on('error', () => transport.destroy());
    transport.on('end', () => transport.destroy());
    transport.on('drain', () => this.#settleWrites());
    transport.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  get isClosed(): boolean {
    return this.#transport.destroyed || this.#isCloseSent;
  }

  /** Why a live peer may seem silent. */
  get stalledSide(): StalledSide | undefined {
    return stalledSideOf(this.#transport);
  }

  /** Sends one message of these parts. */
  send(parts: readonly Buffer[], { isText = false, sent }: SendOptions = {}): void {
    if (this.isClosed) {
      sent?.(new WebSocketError(CLOSE.goingAway, 'the connection is closed'));
      return;
    }
    this.#sendFrame(isText ? OPCODE.text : OPCODE.binary, parts);
    if (sent === undefined) return;
    if (hasRoom(this.#transport)) sent();
    else this.#awaitingDrain.push(sent);
  }

  ping(): void {
    if (!this.isClosed) this.#sendFrame(OPCODE.ping, []);
  }

  /** Stops receiving until `resume`. */
  pause(): void {
    this.#transport.pause();
  }

  resume(): void {
    if (!this.#transport.destroyed) this.#transport.resume();
  }

  /** Sends a close frame and all written data, and closes. */
  close(code: number = CLOSE.normal, reason = ''): void {
    if (this.isClosed) return;
    this.#sendClose(code, reason);
    this.#transport.end();
    this.#transport.resume();
  }

  destroy(): void {
    this.#transport.destroy();
  }

  #receive(chunk: Buffer): void {
    this.activity++;
    this.#garbage.add(chunk.length);
    // Everything after a close frame is ignored.
    if (this.#isCloseReceived) return;
    try {
      this.#parser.write(chunk);
    } catch (error) {
      const code = error instanceof WebSocketError ? error.code : CLOSE.internalError;
      this.#isCloseReceived = true;
      if (!this.#isCloseSent) this.#sendClose(code, error instanceof WebSocketError ? error.message : 'internal error');
      this.#transport.end(() => this.#transport.destroy());
    }
  }

  #handleControl(opcode: number, payload: Buffer): void {
    if (this.#isCloseReceived) return;
    if (opcode === OPCODE.ping && !this.isClosed) this.#sendFrame(OPCODE.pong, [payload]);
    if (opcode !== OPCODE.close) return;
    if (payload.length === 1) throw new WebSocketError(CLOSE.protocolError, 'a close frame of one byte');
    this.#isCloseReceived = true;
    if (!this.#isCloseSent) this.#sendClose(payload.length >= 2 ? replyCode(payload.readUInt16BE(0)) : CLOSE.normal, '');
    this.#transport.end(() => this.#transport.destroy());
  }

  #sendClose(code: number, reason: string): void {
    this.#isCloseSent = true;
    const payload = Buffer.alloc(2 + Math.min(Buffer.byteLength(reason), MAX_REASON_BYTES));
    payload.writeUInt16BE(code, 0);
    payload.write(reason, 2);
    this.#sendFrame(OPCODE.close, [payload]);
  }

  #sendFrame(opcode: number, parts: readonly Buffer[]): void {
    if (!this.#transport.writable) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const header = frameHeader(opcode, length, this.#isClient);
    if (this.#isClient) this.#transport.write(maskedFrame(header, parts, length));
    else {
      this.#transport.cork();
      this.#transport.write(header);
      for (const part of parts) this.#transport.write(part);
      this.#transport.uncork();
    }
    if (this.#transport.writableLength > MAX_PENDING_BYTES + length) this.#transport.destroy();
  }

  #settleWrites(error?: Error): void {
    for (const sent of this.#awaitingDrain.splice(0)) sent(error);
  }
}

/** One buffer: TLS would copy several into one. */
function maskedFrame(header: Buffer, parts: readonly Buffer[], length: number): Buffer {
  const frame = Buffer.concat([header, ...parts], header.length + length);
  applyMask(frame.subarray(header.length), header.subarray(header.length - 4), 0);
  return frame;
}

/** Invalid close codes are answered as protocol errors. */
function replyCode(code: number): number {
  const isSendable = (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);
  return isSendable ? code : CLOSE.protocolError;
}

function frameHeader(opcode: number, length: number, isMasked: boolean): Buffer {
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const header = Buffer.alloc(2 + lengthBytes + (isMasked ? 4 : 0));
  header[0] = 0x80 | opcode;
  header[1] = (isMasked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) header.writeUInt16BE(length, 2);
  if (lengthBytes === 8) header.writeBigUInt64BE(BigInt(length), 2);
  if (isMasked) randomBytes(4).copy(header, 2 + lengthBytes);
  return header;
}
