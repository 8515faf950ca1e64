import { bool, field, type Infer, listOf, message, pointer, string } from '../../schema.ts';

export const PatchOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions', '', {
  dryRun: field(1, listOf(string)),
  force: pointer(2, bool),
  fieldManager: field(3, string),
  fieldValidation: field(4, string),
});
export type PatchOptions = Infer<typeof PatchOptions>;
