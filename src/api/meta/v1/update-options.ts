import { field, type Infer, listOf, message, string } from '../../schema.ts';

export const UpdateOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions', '', {
  dryRun: field(1, listOf(string)),
  fieldManager: field(2, string),
  fieldValidation: field(3, string),
});
export type UpdateOptions = Infer<typeof UpdateOptions>;
