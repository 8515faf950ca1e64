import { compareBytes } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { fillUnset, mapField } from '../../defaulting.ts';
import { column, NAME_COLUMN, wideColumn } from '../../table-cells.ts';
import { PodCertificateRequest } from './pod-certificate-request.ts';
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatus,
  validatePodCertificateRequestUpdate,
} from './pod-certificate-request.validation.ts';

const DAY_SECONDS = 24 * 60 * 60;

const table: TableDefinition<PodCertificateRequest> = {
  columns: [
    NAME_COLUMN,
    column('PodName', 'The pod that gets the certificate.'),
    column('ServiceAccountName', 'The service account of the pod.'),
    column('NodeName', 'The node of the pod.'),
    column('SignerName', 'The signer.'),
    column('State', 'Pending, Issued, Denied or Failed.'),
    wideColumn('UnverifiedUserAnnotations', "Annotations of the pod's author for the signer, not verified."),
  ],
  cells: ({ metadata, spec, status }) => [
    metadata.name,
    spec?.podName ?? '',
    spec?.serviceAccountName ?? '',
    spec?.nodeName ?? '',
    spec?.signerName ?? '',
    status?.conditions?.at(-1)?.type ?? 'Pending',
    annotationsCell(spec?.unverifiedUserAnnotations ?? {}),
  ],
};

function annotationsCell(annotations: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(annotations).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort(compareBytes).join(',');
}

export const podCertificateRequestBehaviour: KindBehaviour<PodCertificateRequest> = {
  kind: PodCertificateRequest,
  defaults: (request) => mapField(request, 'spec', (spec) => fillUnset(spec, { maxExpirationSeconds: DAY_SECONDS })),
  validate: validatePodCertificateRequest,
  validateUpdate: validatePodCertificateRequestUpdate,
  validateStatusUpdate: validatePodCertificateRequestStatus,
  selectableFields: {
    'spec.signerName': ({ spec }) => spec?.signerName ?? '',
    'spec.podName': ({ spec }) => spec?.podName ?? '',
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
  },
  table,
};
