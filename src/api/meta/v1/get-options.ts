import { field, type Infer, message, string } from '../../schema.ts';

export const GetOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions', '', {
  resourceVersion: field(1, string),
});
export type GetOptions = Infer<typeof GetOptions>;
