import { reconcileRbac, type UserInfo } from '#apiserver';
import { type Clock, type Component, type Logger, type Random, raceAbort, runComponent } from '#base';
import type { Client } from '#client';
import { directoryBackend, hostMounter, type LocalBackend, simulatedBackend, startLocalProvisioner } from '#kubelet';
import { componentPolicy } from './component-policy.ts';

export interface LocalStorageConfig {
  /** Volume directories of the class `standard`, by node on this machine. */
  readonly directories?: ReadonlyMap<string, string>;
}

export interface LocalStorageDeps {
  readonly clientAs: (user: UserInfo, userAgent?: string) => Client;
  /** Creates the provisioner's RBAC rules. */
  readonly administrator: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Names of the simulated nodes, which have no disk. */
  simulatedNodes(): Iterable<string>;
}

const PROVISIONER = 'system:sampan:local-provisioner';
const SIMULATED_ROOT = '/var/lib/sampan/local-volumes';

const POLICY = componentPolicy({
  [PROVISIONER]: [
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch', 'create'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ],
});

/** The storage class `standard`, for the nodes of this process. */
export function startLocalStorage(config: LocalStorageConfig, deps: LocalStorageDeps, signal?: AbortSignal): Component {
  const mounter = hostMounter();
  const backends = new Map<string, LocalBackend>();
  for (const [node, directory] of config.directories ?? []) backends.set(node, directoryBackend(directory, mounter));
  const simulated = simulatedBackend(SIMULATED_ROOT);
  const isSimulated = (name: string) => new Set(deps.simulatedNodes()).has(name);
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    await reconcileRbac(deps.administrator, POLICY, deps.logger);
    stopping.throwIfAborted();
    const client = deps.clientAs({ name: PROVISIONER, groups: ['system:authenticated'] }, 'local-provisioner');
    const provisioner = startLocalProvisioner(
      {
        backendOf: (name) => backends.get(name) ?? (isSimulated(name) ? simulated : undefined),
        nodeNames: () => [...backends.keys(), ...deps.simulatedNodes()],
      },
      { ...deps, client },
      stopping,
    );
    await raceAbort(provisioner.ready, stopping);
    ready();
    await provisioner.done;
  });
}
