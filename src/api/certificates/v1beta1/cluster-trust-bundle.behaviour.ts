import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { column, NAME_COLUMN } from '../../table-cells.ts';
import { ClusterTrustBundle } from './cluster-trust-bundle.ts';
import { validateClusterTrustBundle, validateClusterTrustBundleUpdate } from './cluster-trust-bundle.validation.ts';

const table: TableDefinition<ClusterTrustBundle> = {
  columns: [NAME_COLUMN, column('SignerName', 'The signer that the bundle is for, if it is for one.')],
  cells: ({ metadata, spec }) => [metadata.name, spec?.signerName || '<none>'],
};

export const clusterTrustBundleBehaviour: KindBehaviour<ClusterTrustBundle> = {
  kind: ClusterTrustBundle,
  validate: validateClusterTrustBundle,
  validateUpdate: validateClusterTrustBundleUpdate,
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  table,
};
