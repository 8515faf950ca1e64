import { bool, field, type Infer, listOf, message, pointer, string } from '../../schema.ts';

export const PatchOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions', 'Options of a patch.', {
  dryRun: field(1, listOf(string), 'All: everything is done but the writing.'),
  force: pointer(2, bool, 'If true, an apply takes fields over from others. Only for apply.'),
  fieldManager: field(3, string, 'Who sets the fields. Needed for apply.'),
  fieldValidation: field(4, string, 'What follows from unknown and duplicate fields: Ignore, Warn (the default) or Strict.'),
});
export type PatchOptions = Infer<typeof PatchOptions>;
