export * from './certificate-signing-request.behaviour.ts';
export * from './certificate-signing-request.ts';
export { validateCertificateSigningRequestApproval } from './certificate-signing-request.validation.ts';
export { readSigningRequest } from './read-signing-request.ts';
