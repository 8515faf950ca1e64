export { type GrpcTls, unixSocketPath } from './endpoint.ts';
export { DEFAULT_MAX_MESSAGE_BYTES } from './frames.ts';
export { GrpcClient, type GrpcClientOptions, type Method } from './grpc-client.ts';
export { type CallOptions, type ConnectionOptions, GrpcConnection, type StreamOptions } from './grpc-connection.ts';
export { GrpcError, grpcStatus, hasGrpcStatus } from './grpc-error.ts';
export {
  GrpcServer,
  type GrpcServerOptions,
  type MethodEntry,
  type MethodHandler,
  type ServedMethod,
  type ServerCall,
  streamingMethod,
  unaryMethod,
} from './grpc-server.ts';
export type { GrpcStream, StreamHandler } from './message-stream.ts';
export {
  type EnumType,
  embedded,
  enumeration,
  type Field,
  field,
  type MessageInput,
  type MessageOf,
  type MessageType,
  message,
  optional,
  repeated,
  type Scalar,
  stringMap,
  wrapped,
} from './message-table.ts';
export { Inbox, receive } from './receive.ts';
export { MessageReader, MessageWriter } from './wire-format.ts';
