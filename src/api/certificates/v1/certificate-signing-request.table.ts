import { humanDuration } from '#machinery';
import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { CertificateSigningRequest } from './certificate-signing-request.ts';

export const certificateSigningRequestTable: TableDefinition<CertificateSigningRequest> = {
  columns: [
    NAME_COLUMN,
    AGE_COLUMN,
    column('SignerName', 'The requested signer.'),
    column('Requestor', 'The user who created the request.'),
    column('RequestedDuration', 'How long the certificate shall be valid.'),
    column('Condition', 'How far the request is.'),
  ],
  cells: (request, now) => {
    const { metadata, spec } = request;
    const seconds = spec?.expirationSeconds;
    return [
      metadata.name,
      ageCell(metadata, now),
      spec?.signerName || '<none>',
      spec?.username ?? '',
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      conditionText(request),
    ];
  },
};

function conditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string) => (status?.conditions ?? []).some((condition) => condition.type === type);
  const condition = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return [condition, ...(has('Failed') ? ['Failed'] : []), ...(status?.certificate ? ['Issued'] : [])].join(',');
}
