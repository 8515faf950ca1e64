import { field, type Infer, message, string } from '../../schema.ts';

export const GetOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions', 'Options of a get.', {
  resourceVersion: field(1, string, 'Not older than this version.'),
});
export type GetOptions = Infer<typeof GetOptions>;
