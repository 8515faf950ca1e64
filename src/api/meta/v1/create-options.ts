import { field, type Infer, listOf, message, string } from '../../schema.ts';

export const CreateOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions', '', {
  dryRun: field(1, listOf(string)),
  fieldManager: field(3, string),
  fieldValidation: field(4, string),
});
export type CreateOptions = Infer<typeof CreateOptions>;
