/** A patch that cannot be applied to its document. Over the API all of them look the same: `patchRejected`. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
}
