import { core } from '#api';
import { type KubeObject, keyOf, parseKey } from '#client';
import { type DriverController, type DriverControllerDeps, leaseName } from './driver-controller.ts';
import { removeFinalizer } from './finalizers.ts';
import { dataSourceOf } from './provision-request.ts';
import { SNAPSHOT } from './snapshot-kinds.ts';

type Claim = core.PersistentVolumeClaim;

/** On a claim while volumes are cloned from its volume. */
export const CLONE_SOURCE = 'provisioner.storage.kubernetes.io/cloning-protection';
/** On a snapshot while volumes are restored from it. */
export const SNAPSHOT_SOURCE = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';
const CLAIM = 'claim/';
const SNAPSHOT_KEY = 'snapshot/';

/** Releases the sources of claims that are no longer pending, like external-provisioner: snapshots at once, claims when they are deleted. */
export function sourceProtectionController(deps: DriverControllerDeps): DriverController {
  const { informers, capabilities, client, driver } = deps;
  const claims = informers.of(core.PersistentVolumeClaim);
  const snapshots = capabilities.has('CREATE_DELETE_SNAPSHOT') ? informers.resource(SNAPSHOT) : undefined;
  const releaseClaim = async (key: string) => {
    const claim = claims.lister.get(parseKey(key));
    if (claim?.metadata.deletionTimestamp === undefined || isSource(CLAIM + key)) return;
    if (hasFinalizer(claim, CLONE_SOURCE)) await removeFinalizer(client.of(core.PersistentVolumeClaim), claim.metadata, CLONE_SOURCE);
  };
  const releaseSnapshot = async (key: string) => {
    const snapshot = snapshots?.lister.get(parseKey(key));
    if (snapshot === undefined || !hasFinalizer(snapshot, SNAPSHOT_SOURCE) || isSource(SNAPSHOT_KEY + key)) return;
    await removeFinalizer(client.resource(SNAPSHOT), snapshot.metadata, SNAPSHOT_SOURCE);
  };
  const isSource = (key: string) => claims.lister.list().some((claim) => isPending(claim) && sourceKey(claim) === key);
  return {
    name: 'source-protection',
    sidecarLease: leaseName(driver.name),
    follow(enqueue) {
      const claimChanged = (claim: Claim) => {
        if (claim.metadata.deletionTimestamp !== undefined) enqueue(CLAIM + keyOf(claim));
        const source = sourceKey(claim);
        if (source !== undefined) enqueue(source);
      };
      const snapshotChanged = (snapshot: KubeObject) => enqueue(SNAPSHOT_KEY + keyOf(snapshot));
      claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim), delete: claimChanged });
      snapshots?.addHandler({ add: snapshotChanged, update: (_, snapshot) => snapshotChanged(snapshot) });
    },
    async sync(key) {
      if (key.startsWith(CLAIM)) await releaseClaim(key.slice(CLAIM.length));
      else await releaseSnapshot(key.slice(SNAPSHOT_KEY.length));
      return undefined;
    },
  };
}

function isPending({ status }: Claim): boolean {
  return !status?.phase || status.phase === 'Pending';
}

function sourceKey(claim: Claim): string | undefined {
  const source = dataSourceOf(claim);
  if (source.type !== 'claim' && source.type !== 'snapshot') return undefined;
  return (source.type === 'claim' ? CLAIM : SNAPSHOT_KEY) + keyOf({ metadata: source });
}

function hasFinalizer({ metadata }: Pick<KubeObject, 'metadata'>, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
