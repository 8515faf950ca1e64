export { conforms } from './conforms.ts';
export { cannotBeHandledError, strictDecodingError, unrecognizedObject } from './decode-failure.ts';
export { type DecodedObject, type DecodeOptions, decodeObject, TooManyItemsError } from './decode-object.ts';
export * from './openapi/index.ts';
export * from './protobuf/index.ts';
export { restoreError, restoreNameError } from './restore-object.ts';
