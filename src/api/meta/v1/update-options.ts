import { field, type Infer, listOf, message, string } from '../../schema.ts';

export const UpdateOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions', 'Options of an update.', {
  dryRun: field(1, listOf(string), 'All: everything is done but the writing.'),
  fieldManager: field(2, string, 'Who sets the fields.'),
  fieldValidation: field(3, string, 'What follows from unknown and duplicate fields: Ignore, Warn (the default) or Strict.'),
});
export type UpdateOptions = Infer<typeof UpdateOptions>;
