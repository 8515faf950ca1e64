export type { ResponseFields } from './frame-sender.ts';
export { Http2Server, type Http2ServerOptions } from './http2-server.ts';
export { ERROR as HTTP2_ERROR } from './protocol.ts';
export type { ServerConnection } from './server-connection.ts';
export { type BodySink, ServerStream } from './server-stream.ts';
