import { defaultPersistentVolumeClaim } from '../../core/v1/persistent-volume-claim/persistent-volume-claim.defaults.ts';
import type { PersistentVolumeClaim } from '../../core/v1/persistent-volume-claim/persistent-volume-claim.ts';
import { defaultPodTemplate } from '../../core/v1/pod/pod-spec.defaults.ts';
import { fillUnset, fillZero, mapField, mapItems, withField } from '../../defaulting.ts';
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from './stateful-set.ts';

export function defaultStatefulSet(set: StatefulSet): StatefulSet {
  let spec = fillZero(set.spec ?? ({} as StatefulSetSpec), { podManagementPolicy: 'OrderedReady' });
  spec = withField(spec, 'updateStrategy', defaultStrategy(spec.updateStrategy ?? {}));
  const retention = fillZero(spec.persistentVolumeClaimRetentionPolicy ?? {}, { whenDeleted: 'Retain', whenScaled: 'Retain' });
  spec = withField(spec, 'persistentVolumeClaimRetentionPolicy', retention);
  spec = fillUnset(spec, { replicas: 1, revisionHistoryLimit: 10 });
  spec = mapField(spec, 'volumeClaimTemplates', (claims) => mapItems(claims, defaultClaim));
  return withField(set, 'spec', withField(spec, 'template', defaultPodTemplate(spec.template)));
}

function defaultStrategy(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const typed = strategy.type ? strategy : { ...strategy, type: 'RollingUpdate', rollingUpdate: strategy.rollingUpdate ?? {} };
  if (typed.type !== 'RollingUpdate' || !typed.rollingUpdate) return typed;
  return withField(typed, 'rollingUpdate', fillUnset(typed.rollingUpdate, { partition: 0 }));
}

/** Claim templates always have their apiVersion and kind. */
function defaultClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const filled = defaultPersistentVolumeClaim(claim);
  if (filled.apiVersion === 'v1' && filled.kind === 'PersistentVolumeClaim') return filled;
  return { ...filled, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
}
