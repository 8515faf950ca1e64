import type { SpdyStream } from './spdy-stream.ts';

export interface SpdyOptions {
  readonly role: 'server' | 'client';
  /** Handles streams opened by the peer: replies or resets. Absent: they are refused. */
  readonly onStream?: (stream: SpdyStream) => void;
  /** The maximum number of the peer's open streams. */
  readonly maxStreams?: number;
}
