import type { KindBehaviour } from '../../behaviour.ts';
import { certificateSigningRequestTable } from './certificate-signing-request.table.ts';
import { CertificateSigningRequest } from './certificate-signing-request.ts';
import {
  validateCertificateSigningRequest,
  validateCertificateSigningRequestStatusUpdate,
  validateCertificateSigningRequestUpdate,
} from './certificate-signing-request.validation.ts';

export const certificateSigningRequestBehaviour: KindBehaviour<CertificateSigningRequest> = {
  kind: CertificateSigningRequest,
  validate: validateCertificateSigningRequest,
  validateUpdate: validateCertificateSigningRequestUpdate,
  validateStatusUpdate: validateCertificateSigningRequestStatusUpdate,
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  table: certificateSigningRequestTable,
};
