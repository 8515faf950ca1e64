import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

type Spec = core.PersistentVolumeClaimSpec;

/** Drops unsupported data sources, and synchronizes dataSource and dataSourceRef. */
function prepareSources(claim: core.PersistentVolumeClaim, old?: core.PersistentVolumeClaim): core.PersistentVolumeClaim {
  const spec = claim.spec ?? {};
  const prepared = normalizeSources(dropForeignSource(dropForeignNamespace(spec, old?.spec), old?.spec));
  return prepared === spec ? claim : { ...claim, spec: prepared };
}

/** Cross-namespace data sources are an alpha feature, and disabled. */
function dropForeignNamespace(spec: Spec, old: Spec | undefined): Spec {
  if (!spec.dataSourceRef?.namespace || old?.dataSourceRef) return spec;
  const { dataSourceRef: _, ...rest } = spec;
  return rest;
}

/** Unsupported kinds in `dataSource` have always been dropped silently. */
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
  returnsDeletedObject: true,
};
