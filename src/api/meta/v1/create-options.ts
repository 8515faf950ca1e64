import { field, type Infer, listOf, message, string } from '../../schema.ts';

export const CreateOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions', 'Options of a create.', {
  dryRun: field(1, listOf(string), 'All: everything is done but the writing.'),
  fieldManager: field(3, string, 'Who sets the fields.'),
  fieldValidation: field(4, string, 'What follows from unknown and duplicate fields: Ignore, Warn (the default) or Strict.'),
});
export type CreateOptions = Infer<typeof CreateOptions>;
