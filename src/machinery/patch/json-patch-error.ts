/** A patch that cannot be applied to its document. Over the API all of them look the same: `patchRejected`. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
}

/** A `test` of the patch found another value: the patch is sound, but not for this document. */
export class JsonPatchTestError extends JsonPatchError {}
