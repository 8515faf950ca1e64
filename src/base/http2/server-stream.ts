import { ChunkList } from '../chunk-list.ts';
import { Fifo } from '../queues/fifo.ts';
import type { FrameSender, ResponseFields, WaitingStream } from './frame-sender.ts';
import { ERROR } from './protocol.ts';
import type { RequestHeaders } from './request-headers.ts';

/** Takes the body of a request. */
export interface BodySink {
  /** `consumed` must be called to receive more. */
  data(chunk: Buffer): void;
  end(): void;
  /** The body was cut off. Not called after `end`. */
  aborted(): void;
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly sender: FrameSender;
  /** The received bytes are no longer held. */
  consumed(stream: ServerStream | undefined, bytes: number): void;
  reset(stream: ServerStream, code: number): void;
  /** The response is complete, and the request is not. */
  finishEarly(stream: ServerStream): void;
  closed(stream: ServerStream): void;
}

/** One request and its response. */
export class ServerStream implements WaitingStream {
  window: number;
  /** The request's flow control: the remaining window, and bytes consumed since the last WINDOW_UPDATE. */
  receiveWindow: number;
  uncredited = 0;
  isRequestEnded = false;
  isClosed = false;
  #isComplete = false;
  /** Received bytes that were not consumed yet. */
  #unread = 0;
  #received = 0;
  /** Data that arrived before it was read. */
  #early: ChunkList | undefined;
  #sink: BodySink | undefined;
  #hasHead = false;
  /** No data is added any more. */
  #isEnding = false;
  /** Data that waits, and how much of its first chunk was sent. */
  #queue: Fifo<Buffer> | undefined;
  #sent = 0;
  #pending = 0;
  #onDrained: (() => void)[] | undefined;
  #onClose: ((isComplete: boolean) => void)[] | undefined;

  constructor(
    readonly id: number,
    readonly headers: RequestHeaders,
    private readonly owner: StreamOwner,
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.window = windows.send;
    this.receiveWindow = windows.receive;
  }

  /** Unsent bytes. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether the response has begun without a known end. */
  get isOpenEnded(): boolean {
    return this.#hasHead && !this.#isEnding && !this.isClosed;
  }

  /** Passes on what has arrived, and all that follows. */
  receive(sink: BodySink): void {
    const early = this.#early?.pieces() ?? [];
    this.#early = undefined;
    this.#sink = sink;
    for (const chunk of early) sink.data(chunk);
    if (this.isRequestEnded) sink.end();
    else if (this.isClosed) sink.aborted();
  }

  /** Opens the window by these bytes. */
  consumed(bytes: number): void {
    if (this.isClosed) return;
    this.#unread -= bytes;
    this.owner.consumed(this, bytes);
  }

  /** Called by the connection. */
  receiveData(chunk: Buffer): void {
    this.#unread += chunk.length;
    this.#received += chunk.length;
    if (this.#sink === undefined) this.#keep(chunk);
    else this.#sink.data(chunk);
  }

  #keep(chunk: Buffer): void {
    this.#early ??= new ChunkList();
    this.#early.push(chunk);
  }

  /** Called by the connection. */
  receiveEnd(): void {
    const { contentLength } = this.headers;
    if (contentLength !== undefined && contentLength !== this.#received) this.reset(ERROR.PROTOCOL_ERROR);
    else {
      this.isRequestEnded = true;
      this.#sink?.end();
    }
  }

  /** `callback` is called once when the stream closes: whether the response was sent to its end. */
  onClose(callback: (isComplete: boolean) => void): void {
    if (this.isClosed) callback(this.#isComplete);
    else this.#onClose = [...(this.#onClose ?? []), callback];
  }

  /** Sends a complete response. */
  respond(status: number, fields: ResponseFields, body: Buffer | undefined): void {
    const isEmpty = body === undefined || body.length === 0;
    if (!this.#sendHead(status, fields, isEmpty)) return;
    this.#isEnding = true;
    if (isEmpty) this.#finish();
    else this.#send(body);
  }

  /** Begins a response; nothing can be written after its end. */
  begin(status: number, fields: ResponseFields): void {
    this.#sendHead(status, fields, false);
  }

  #sendHead(status: number, fields: ResponseFields, isEnd: boolean): boolean {
    if (this.isClosed) return false;
    if (this.#hasHead) throw new Error('the response has begun');
    this.#hasHead = true;
    this.owner.sender.head({ streamId: this.id, status, fields, isEnd });
    return true;
  }

  /** The chunk may be reused after the stream has drained. */
  write(chunk: Buffer): void {
    if (!this.isClosed && !this.#isEnding && chunk.length > 0) this.#send(chunk);
  }

  end(): void {
    if (this.isClosed || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#pending > 0) return;
    this.owner.sender.end(this.id);
    this.#finish();
  }

  /** Resolves when nothing is pending, or the stream is closed. */
  drained(): Promise<void> {
    if (this.#pending === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained = [...(this.#onDrained ?? []), resolve];
    });
  }

  reset(code: number): void {
    if (!this.isClosed) this.owner.reset(this, code);
  }

  #send(chunk: Buffer): void {
    if (this.#pending === 0) {
      const sent = this.owner.sender.data(this, chunk, { from: 0, limit: chunk.length, isLast: this.#isEnding });
      if (sent === chunk.length) {
        if (this.#isEnding) this.#finish();
        return;
      }
      this.#sent = sent;
      this.#pending = -sent;
    }
    this.#pending += chunk.length;
    this.#queue ??= new Fifo();
    this.#queue.push(chunk);
    if (this.window > 0) this.owner.sender.wait(this);
  }

  sendWaiting(bytes: number): boolean {
    let left = bytes;
    while (this.#pending > 0 && left > 0) {
      const sent = this.#sendNext(left);
      if (sent === 0) break;
      left -= sent;
    }
    if (this.#pending === 0) this.#drain();
    return this.#pending > 0 && this.window > 0;
  }

  /** Returns how much of the first chunk was sent. */
  #sendNext(limit: number): number {
    const queue = this.#queue!;
    const chunk = queue.peek()!;
    const from = this.#sent;
    const isLast = this.#isEnding && queue.size === 1;
    const to = this.owner.sender.data(this, chunk, { from, limit, isLast });
    if (to === chunk.length) queue.shift();
    this.#sent = to === chunk.length ? 0 : to;
    this.#pending -= to - from;
    return to - from;
  }

  #drain(): void {
    const waiting = this.#onDrained ?? [];
    this.#onDrained = undefined;
    for (const resolve of waiting) resolve();
    if (this.#isEnding) this.#finish();
  }

  /** The response was sent. The rest of the request, if it is still coming, is of no use. */
  #finish(): void {
    if (this.isRequestEnded) this.close(true);
    else this.owner.finishEarly(this);
  }

  /** Called by the connection. */
  close(isComplete: boolean): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#isComplete = isComplete;
    this.owner.closed(this);
    if (this.#unread > 0) this.owner.consumed(undefined, this.#unread);
    this.#early = undefined;
    this.#queue = undefined;
    if (!this.isRequestEnded) this.#sink?.aborted();
    for (const resolve of this.#onDrained ?? []) resolve();
    for (const callback of this.#onClose ?? []) callback(isComplete);
  }
}
