import type { Duplex } from 'node:stream';
import { BulkGarbage } from '../async/bulk-garbage.ts';
import { type StalledSide, stalledSideOf } from '../time/keep-alive.ts';
import { DataSender, MAX_WINDOW_BYTES } from './data-sender.ts';
import { type ControlFrame, checkLength, FrameParser, idIn } from './frame-parser.ts';
import {
  controlFrame,
  dataHeader,
  FLAG_FIN,
  FLAG_UNIDIRECTIONAL,
  FRAME,
  initialWindowFrame,
  MAX_STREAM_ID,
  numbersFrame,
  synReplyFrame,
  synStreamFrame,
} from './frames.ts';
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './header-block.ts';
import { initialWindowIn } from './initial-window.ts';
import { RESET, SpdyError, StreamResetError } from './spdy-error.ts';
import type { SpdyOptions } from './spdy-options.ts';
import { SpdyStream, type StreamCarrier } from './spdy-stream.ts';

const MAX_STREAMS = 2000;
/** The receive window of a stream. */
const WINDOW_BYTES = 256 * 1024;
/** The connection's window is unnecessary beside those of streams. */
const SESSION_EXTRA_BYTES = 64 * 1024 * 1024;
/** Each update costs a TLS record and wakes the peer, which never comes near the end of that window. */
const SESSION_CREDIT_BYTES = 8 * 1024 * 1024;
/** A peer that pings without reading the replies is disconnected. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

/**
 * SPDY/3.1 over any duplex. Go's spdystream, used by kubectl and containerd, neither sends nor respects WINDOW_UPDATE: flow control applies only to
 * peers whose first frame is SETTINGS, as it is here. For others a stream with a slow consumer pauses the connection.
 */
export class SpdyConnection implements StreamCarrier {
  /** Increases with all received data. */
  activity = 0;
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>;
  readonly #transport: Duplex;
  readonly #options: SpdyOptions;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #headerReader = new HeaderReader();
  readonly #headerWriter = new HeaderWriter();
  readonly #parser: FrameParser;
  readonly #garbage = new BulkGarbage();
  /** Streams with slow consumers, of a peer without flow control. */
  readonly #slow = new Set<SpdyStream>();
  readonly #sender: DataSender;
  #nextId: number;
  #lastPeerId = 0;
  #nextPing: number;
  readonly #pings = new Map<number, () => void>();
  #sessionReceived = 0;
  #hasReceived = false;
  #isOver = false;
  #isGoingAway = false;
  /** Windows have grown. */
  #hasCredit = false;

  constructor(transport: Duplex, options: SpdyOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#sender = new DataSender(transport);
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.#nextPing = options.role === 'client' ? 1 : 2;
    this.#parser = new FrameParser({
      control: (frame) => this.#handleControl(frame),
      data: (id, chunk) => this.#handleData(id, chunk),
      dataEnd: (id, flags) => {
        if ((flags & FLAG_FIN) !== 0) this.#endRemote(this.#streams.get(id));
      },
    });
    this.closed = new Promise((resolve) => {
      transport.once('close', () => {
        this.#finish(new SpdyError('closed', 'the connection was closed'));
        resolve();
      });
    });
    transport.on('error', () => transport.destroy());
    transport.on('end', () => this.destroy(new SpdyError('closed', 'the connection was closed by the peer')));
    transport.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#send(initialWindowFrame(WINDOW_BYTES));
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  get isClosed(): boolean {
    return this.#isOver;
  }

  /** Why a live peer may seem silent. */
  get stalledSide(): StalledSide | undefined {
    return stalledSideOf(this.#transport);
  }

  /** Opens a stream. Data may be sent before the peer has replied. */
  openStream(headers: SpdyHeaders): SpdyStream {
    if (this.#isOver || this.#isGoingAway) throw new SpdyError('closed', 'the connection is closed');
    if (this.#nextId > MAX_STREAM_ID) throw new SpdyError('closed', 'the connection has no stream ids left');
    const stream = new SpdyStream(this.#nextId, headers, this);
    this.#nextId += 2;
    this.#add(stream);
    this.#send(synStreamFrame(stream.id, 0, this.#headerWriter.write(headers)));
    return stream;
  }

  /** Resolves on the peer's reply. */
  ping(): Promise<void> {
    if (this.#isOver) return Promise.reject(new SpdyError('closed', 'the connection is closed'));
    const id = this.#nextPing;
    this.#nextPing = (this.#nextPing + 2) % 0xfffffffe;
    return new Promise((resolve) => {
      this.#pings.set(id, resolve);
      this.#send(numbersFrame(FRAME.ping, id));
    });
  }

  /** Sends GOAWAY and all written data, and closes. */
  close(): void {
    if (this.#isOver) return;
    this.#goAway(0);
    this.#finish(new SpdyError('closed', 'the connection was closed'));
    this.#transport.end();
    // Further data of the peer is of no use.
    this.#transport.resume();
  }

  destroy(error: SpdyError): void {
    if (this.#isOver) return;
    if (error.reason === 'protocolError') this.#goAway(RESET.protocolError);
    this.#finish(error);
    destroySoon(this.#transport);
  }

  /** Closes immediately, dropping unsent data. */
  kill(): void {
    this.#transport.destroy();
  }

  sendData(stream: SpdyStream, chunk: Buffer, sent: (error?: Error) => void): void {
    this.#sender.send(stream, chunk, sent);
  }

  sendFin(stream: SpdyStream): void {
    if (stream.isLocalEnded) return;
    stream.isLocalEnded = true;
    this.#send(dataHeader(stream.id, FLAG_FIN, 0));
    this.#removeIfEnded(stream);
  }

  sendReply(stream: SpdyStream, headers: SpdyHeaders): void {
    this.#send(synReplyFrame(stream.id, 0, this.#headerWriter.write(headers)));
  }

  sendReset(stream: SpdyStream, status: number): void {
    this.#unblock(stream);
    this.#sender.drop(stream);
    if (this.#streams.get(stream.id) !== stream) return;
    this.#streams.delete(stream.id);
    if (!stream.isLocalEnded || !stream.isRemoteEnded) this.#send(numbersFrame(FRAME.rstStream, stream.id, status));
  }

  wantsData(stream: SpdyStream): void {
    this.#unblock(stream);
    // Node requests more data before it emits what is buffered.
    if (this.#sender.isFlowControlled) process.nextTick(() => this.#credit(stream));
  }

  #unblock(stream: SpdyStream): void {
    if (this.#slow.delete(stream) && this.#slow.size === 0) this.#transport.resume();
  }

  #add(stream: SpdyStream): void {
    stream.sendWindow = this.#sender.streamWindow;
    this.#streams.set(stream.id, stream);
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    this.activity++;
    this.#garbage.add(chunk.length);
    try {
      this.#parser.write(chunk);
      this.#useCredit();
    } catch (error) {
      this.destroy(error instanceof SpdyError ? error : new SpdyError('internalError', (error as Error).message));
    }
  }

  #handleData(id: number, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#noteFirstFrame(undefined);
    this.#sessionReceived += chunk.length;
    this.#creditSession();
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isRemoteEnded) {
      // Data of recently closed streams may still arrive; data of unknown streams is reset once.
      if (id > this.#lastPeerId && id >= this.#nextId)
        throw new SpdyError('protocolError', `data for stream ${id}, which was never opened`);
      return;
    }
    stream.bytesReceived += chunk.length;
    if (this.#sender.isFlowControlled && stream.bytesReceived - stream.bytesCredited > WINDOW_BYTES) {
      stream.reset(RESET.flowControlError);
      return;
    }
    if (stream.receive(chunk) || this.#sender.isFlowControlled) return;
    this.#slow.add(stream);
    this.#transport.pause();
  }

  #handleControl(frame: ControlFrame): void {
    if (this.#isOver) return;
    this.#noteFirstFrame(frame.type);
    switch (frame.type) {
      case FRAME.synStream:
        this.#handleSynStream(frame);
        break;
      case FRAME.synReply:
        this.#handleSynReply(frame);
        break;
      case FRAME.rstStream:
        this.#handleReset(this.#streams.get(idIn(frame, 8)), frame.payload.readUInt32BE(4));
        break;
      case FRAME.settings:
        this.#handleSettings(frame);
        break;
      case FRAME.ping:
        this.#handlePing(frame);
        break;
      case FRAME.goAway:
        this.#isGoingAway = true;
        break;
      case FRAME.headers:
        this.#handleHeaders(frame);
        break;
      case FRAME.windowUpdate:
        this.#handleWindowUpdate(idIn(frame, 8), frame.payload.readUInt32BE(4) & 0x7fffffff);
        break;
      default:
      // Unknown control frames must be ignored.
    }
  }

  #handleReset(stream: SpdyStream | undefined, status: number): void {
    if (stream === undefined) return;
    if (status !== RESET.cancel) {
      stream.fail(new StreamResetError(status));
      return;
    }
    this.#streams.delete(stream.id);
    stream.cancelByPeer();
    this.#sender.drop(stream);
    this.#unblock(stream);
  }

  /** Additional headers are unused here, but they change the compressor's state. */
  #handleHeaders(frame: ControlFrame): void {
    const id = idIn(frame, 4);
    this.#headerReader.read(frame.payload.subarray(4));
    if ((frame.flags & FLAG_FIN) !== 0) this.#endRemote(this.#streams.get(id));
  }

  #handleSynStream(frame: ControlFrame): void {
    const id = idIn(frame, 10);
    const headers = this.#headerReader.read(frame.payload.subarray(10));
    const isPeers = id % 2 === (this.#options.role === 'server' ? 1 : 0);
    if (!isPeers || id <= this.#lastPeerId) throw new SpdyError('protocolError', `stream ${id} cannot be opened`);
    this.#lastPeerId = id;
    if (this.#options.onStream === undefined || this.#streams.size >= (this.#options.maxStreams ?? MAX_STREAMS) || this.#isGoingAway) {
      this.#send(numbersFrame(FRAME.rstStream, id, RESET.refusedStream));
      return;
    }
    const stream = new SpdyStream(id, headers, this);
    this.#add(stream);
    this.#options.onStream(stream);
    if ((frame.flags & FLAG_UNIDIRECTIONAL) !== 0) stream.end();
    if ((frame.flags & FLAG_FIN) !== 0) this.#endRemote(stream);
  }

  #handleSynReply(frame: ControlFrame): void {
    const stream = this.#streams.get(idIn(frame, 4));
    const headers = this.#headerReader.read(frame.payload.subarray(4));
    if (stream === undefined) return;
    if (stream.isReplied) throw new SpdyError('protocolError', `a second reply to stream ${stream.id}`);
    stream.acceptReply(headers);
    if ((frame.flags & FLAG_FIN) !== 0) this.#endRemote(stream);
  }

  #handleSettings({ payload }: ControlFrame): void {
    this.#useWindow(initialWindowIn(payload) ?? this.#sender.streamWindow);
  }

  #useWindow(bytes: number): void {
    const change = bytes - this.#sender.streamWindow;
    if (change === 0) return;
    for (const stream of this.#streams.values()) stream.sendWindow += change;
    this.#sender.streamWindow = bytes;
    this.#hasCredit = true;
  }

  /** Once for all frames that arrived together: streams that wait are many, and most may still not send. */
  #useCredit(): void {
    if (!this.#hasCredit) return;
    this.#hasCredit = false;
    this.#sender.sendWaiting();
  }

  #noteFirstFrame(type: number | undefined): void {
    if (this.#hasReceived) return;
    this.#hasReceived = true;
    if (type === FRAME.settings) this.#send(numbersFrame(FRAME.windowUpdate, 0, SESSION_EXTRA_BYTES));
    else this.#sender.stopFlowControl();
  }

  #handleWindowUpdate(id: number, bytes: number): void {
    if (!this.#sender.isFlowControlled) return;
    const stream = this.#streams.get(id);
    if (id === 0) {
      this.#sender.widenSession(bytes);
      this.#hasCredit = true;
    } else if (stream !== undefined) this.#widen(stream, bytes);
  }

  #widen(stream: SpdyStream, bytes: number): void {
    stream.sendWindow += bytes;
    if (stream.sendWindow > MAX_WINDOW_BYTES) stream.reset(RESET.flowControlError);
    else this.#hasCredit = true;
  }

  #credit(stream: SpdyStream): void {
    if (stream.isRemoteEnded || this.#isOver) return;
    const consumed = stream.bytesReceived - stream.unreadBytes - stream.bytesCredited;
    if (consumed < WINDOW_BYTES / 4) return;
    stream.bytesCredited += consumed;
    this.#send(numbersFrame(FRAME.windowUpdate, stream.id, consumed));
  }

  /** Stream windows bound the buffers; the connection's is only kept from running out. */
  #creditSession(): void {
    if (!this.#sender.isFlowControlled || this.#sessionReceived < SESSION_CREDIT_BYTES) return;
    this.#send(numbersFrame(FRAME.windowUpdate, 0, this.#sessionReceived));
    this.#sessionReceived = 0;
  }

  #handlePing(frame: ControlFrame): void {
    checkLength(frame, 4);
    const id = frame.payload.readUInt32BE(0);
    const isLocalId = id % 2 === (this.#options.role === 'client' ? 1 : 0);
    if (!isLocalId) this.#send(controlFrame(FRAME.ping, 0, frame.payload.subarray(0, 4)));
    this.#pings.get(id)?.();
    this.#pings.delete(id);
  }

  #endRemote(stream: SpdyStream | undefined): void {
    if (stream === undefined || stream.isRemoteEnded) return;
    stream.isRemoteEnded = true;
    stream.receiveEnd();
    this.#removeIfEnded(stream);
  }

  #removeIfEnded(stream: SpdyStream): void {
    if (!stream.isLocalEnded || !stream.isRemoteEnded) return;
    this.#streams.delete(stream.id);
    this.#unblock(stream);
  }

  #goAway(status: number): void {
    this.#isGoingAway = true;
    this.#send(numbersFrame(FRAME.goAway, this.#lastPeerId, status));
  }

  #finish(error: SpdyError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#slow.clear();
    for (const stream of [...this.#streams.values()]) stream.endWithConnection(error);
    this.#streams.clear();
    this.#pings.clear();
    this.#sender.fail(error);
  }

  #send(bytes: Buffer): void {
    if (!this.#transport.writable) return;
    this.#transport.write(bytes);
    if (this.#transport.writableLength > MAX_PENDING_BYTES) this.#transport.destroy();
  }
}

/** Sends all written data, without waiting for the peer. */
function destroySoon(transport: Duplex): void {
  transport.end(() => transport.destroy());
  transport.resume();
}
