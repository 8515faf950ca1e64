export { decodeProtobuf } from './decode-protobuf.ts';
export { encodeProtobuf } from './encode-protobuf.ts';
export { decodeEnvelope, type Envelope, EnvelopeEncoding, encodeEnvelope, isEnvelope, ListEncoding, type TypeMeta } from './envelope.ts';
export { type FieldRange, messageFieldRange } from './message-field.ts';
export { ProtobufError } from './protobuf-error.ts';
export { encodeWatchFrame, type WatchFrame, WatchFrameEncoding, WatchFrameReader } from './watch-frames.ts';
export { WireWriter } from './wire-writer.ts';
