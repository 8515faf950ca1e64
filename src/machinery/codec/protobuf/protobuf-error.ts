/** Bytes that are not the message they should be. The texts are upstream's where it has one. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}
