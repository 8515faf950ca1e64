export { MAX_HEADER_BYTES, type SpdyHeaders } from './header-block.ts';
export { SpdyConnection } from './spdy-connection.ts';
export { RESET as SPDY_RESET, SpdyError, type SpdyErrorReason, StreamResetError } from './spdy-error.ts';
export type { SpdyOptions } from './spdy-options.ts';
export type { SpdyStream } from './spdy-stream.ts';
