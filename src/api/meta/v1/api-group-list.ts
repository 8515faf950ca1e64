import { type Infer, listOf, message, required } from '../../schema.ts';
import { APIGroup } from './api-group.ts';

export const APIGroupList = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList', 'The API groups.', {
  groups: required(1, listOf(APIGroup), 'The groups.'),
});
export type APIGroupList = Infer<typeof APIGroupList>;
