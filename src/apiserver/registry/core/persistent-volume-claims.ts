import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

type Spec = core.PersistentVolumeClaimSpec;

/** Without what upstream has always ignored in `dataSource`, and with both fields for the source saying the same. */
function prepareSources(claim: core.PersistentVolumeClaim, old?: core.PersistentVolumeClaim): core.PersistentVolumeClaim {
  const spec = claim.spec ?? {};
  const prepared = normalizeSources(dropForeignSource(dropForeignNamespace(spec, old?.spec), old?.spec));
  return prepared === spec ? claim : { ...claim, spec: prepared };
}

/** Sources in other namespaces are an alpha feature, and off. */
function dropForeignNamespace(spec: Spec, old: Spec | undefined): Spec {
  if (!spec.dataSourceRef?.namespace || old?.dataSourceRef) return spec;
  const { dataSourceRef: _, ...rest } = spec;
  return rest;
}

/** Old clients put things into `dataSource` that nobody understood, and these were dropped in silence. */
function dropForeignSource(spec: Spec, old: Spec | undefined): Spec {
  if (old?.dataSource || old?.dataSourceRef || spec.dataSourceRef || !spec.dataSource) return spec;
  const { apiGroup, kind } = spec.dataSource;
  const group = apiGroup ?? '';
  if (kind === 'PersistentVolumeClaim' && group === '') return spec;
  if (kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io') return spec;
  const { dataSource: _, ...rest } = spec;
  return rest;
}

function normalizeSources(spec: Spec): Spec {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) return { ...spec, dataSourceRef: dataSource };
  if (!dataSourceRef || dataSource || dataSourceRef.namespace) return spec;
  const { namespace: _, ...local } = dataSourceRef;
  return { ...spec, dataSource: local };
}

export const persistentVolumeClaimsStrategy: ResourceStrategy<core.PersistentVolumeClaim> = {
  ...core.persistentVolumeClaimBehaviour,
  hasStatus: true,
  prepareForCreate: (claim) => ({ ...prepareSources(claim), status: { phase: 'Pending' } }),
  prepareForUpdate: (claim, old) => prepareSources(claim, old),
  resetFields: { '': [['status']], status: [['spec']] },
};
