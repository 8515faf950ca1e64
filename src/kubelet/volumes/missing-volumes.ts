import type { core } from '#api';
import { NotAttachedError } from '../csi/csi-volume.ts';
import type { PodRecord } from './pod-record.ts';
import { messageOf } from './volume-plugin.ts';

/** Which volumes a pod waited for in vain, and why, in upstream's words. `problems`: by the names of volumes. */
export function missingVolumesError(record: PodRecord, volumes: readonly core.Volume[], problems: ReadonlyMap<string, unknown>): Error {
  const missing = volumes.map(({ name }) => name).filter((name) => record.prepared(name) === undefined);
  const unresolved = missing.filter((name) => !record.entries.has(name));
  const reasons = unresolved.map((name) => messageOf(problems.get(name)));
  const reason = reasons.length === 0 ? 'context deadline exceeded' : reasons.length === 1 ? reasons[0] : `[${reasons.join(', ')}]`;
  const unattached = missing.filter((name) => problems.get(name) instanceof NotAttachedError);
  const lists = `unmounted volumes=[${missing.join(' ')}], unattached volumes=[${unattached.join(' ')}], failed to process volumes=[${unresolved.join(' ')}]`;
  return new Error(`Unable to attach or mount volumes: ${lists}: ${reason}`);
}
