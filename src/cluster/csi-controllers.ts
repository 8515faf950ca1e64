import { reconcileRbac, type UserInfo } from '#apiserver';
import { type Clock, type Component, type Logger, type MetricsRegistry, type Random, raceAbort, runComponent } from '#base';
import type { Client } from '#client';
import { type CsiDriver, startCsiController } from '#kubelet';
import { componentPolicy } from './component-policy.ts';
import { supervise } from './supervision/supervise.ts';

export interface CsiControllersDeps {
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  /** Creates the controllers' RBAC rules. */
  readonly administrator: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

const NAME = 'system:sampan:csi-controller';
const READ = ['get', 'list', 'watch'];

/** The combined RBAC rules of external-provisioner, -attacher, -resizer and -snapshotter. */
const POLICY = componentPolicy({
  [NAME]: [
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: [...READ, 'create', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: [...READ, 'patch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: READ },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses', 'csinodes', 'csidrivers', 'volumeattributesclasses'], verbs: READ },
    { apiGroups: ['storage.k8s.io'], resources: ['csistoragecapacities'], verbs: [...READ, 'create', 'patch', 'delete'] },
    { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: [...READ, 'patch'] },
    { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments/status'], verbs: ['patch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: READ },
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'create'] },
    { apiGroups: ['snapshot.storage.k8s.io'], resources: ['volumesnapshotclasses'], verbs: READ },
    {
      apiGroups: ['snapshot.storage.k8s.io'],
      resources: ['volumesnapshots', 'volumesnapshotcontents'],
      verbs: [...READ, 'create', 'patch', 'delete'],
    },
    {
      apiGroups: ['snapshot.storage.k8s.io'],
      resources: ['volumesnapshots/status', 'volumesnapshotcontents/status'],
      verbs: ['patch'],
    },
  ],
});

/** Runs the sidecar duties of drivers whose controller service runs on a node of this process. */
export function startDriverController(driver: CsiDriver, deps: CsiControllersDeps): Component {
  const { clientAs, administrator, logger } = deps;
  const start = () =>
    runComponent(undefined, async ({ signal, ready }) => {
      await reconcileRbac(administrator, POLICY, logger);
      signal.throwIfAborted();
      const client = clientAs({ name: NAME, groups: ['system:authenticated'] }, 'csi-controller');
      const controller = startCsiController({}, { ...deps, driver, client }, signal);
      await raceAbort(controller.ready, signal);
      ready();
      await controller.done;
    });
  return supervise({ name: `csi-controller ${driver.name}`, start }, deps);
}
