import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, anyObject, type Infer, int64, kind, required } from '../../schema.ts';

export const ControllerRevision = kind(
  {
    name: 'io.k8s.api.apps.v1.ControllerRevision',
    group: 'apps',
    version: 'v1',
    kind: 'ControllerRevision',
    resource: 'controllerrevisions',
    namespaced: true,
  },
  'A revision of a DaemonSet or StatefulSet, kept for rollbacks.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    data: always(2, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The state.'),
    revision: required(3, int64, 'Its place in the history.'),
  },
);
export type ControllerRevision = Infer<typeof ControllerRevision>;
