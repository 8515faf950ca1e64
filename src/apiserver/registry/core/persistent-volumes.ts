import { core } from '#api';
import { formatTime } from '#machinery';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

/** lastPhaseTransitionTime is set by the server, unless a client changes it together with the phase. */
function stampPhase(volume: core.PersistentVolume, old: core.PersistentVolume, { now }: RequestScope): core.PersistentVolume {
  const status = volume.status ?? {};
  const before = old.status ?? {};
  const transition = status.lastPhaseTransitionTime;
  if ((status.phase ?? '') !== (before.phase ?? '')) {
    if (transition !== undefined && transition !== before.lastPhaseTransitionTime) return volume;
    return { ...volume, status: { ...status, lastPhaseTransitionTime: formatTime(now) } };
  }
  if (transition !== undefined || before.lastPhaseTransitionTime === undefined) return volume;
  return { ...volume, status: { ...status, lastPhaseTransitionTime: before.lastPhaseTransitionTime } };
}

export const persistentVolumesStrategy: ResourceStrategy<core.PersistentVolume> = {
  ...core.persistentVolumeBehaviour,
  hasStatus: true,
  prepareForCreate: (volume, { now }) => ({ ...volume, status: { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) } }),
  prepareForStatusUpdate: stampPhase,
  resetFields: { '': [['status']], status: [['spec']] },
  returnsDeletedObject: true,
};
