import type { certificates } from '#api';
import { StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { UserInfo } from '../../request/user.ts';
import type { AdmissionAttributes } from '../admission.ts';

export type CertificateSigningRequest = certificates.CertificateSigningRequest;

const GROUP = 'certificates.k8s.io';
const RESOURCE = 'certificatesigningrequests';

export function isSigningRequest({ resource, subresource }: AdmissionAttributes, subresourceName: string): boolean {
  return resource.group === GROUP && resource.resource === RESOURCE && subresource === subresourceName;
}

export function forbiddenRequest({ name }: AdmissionAttributes, detail: string): StatusError {
  return StatusError.forbidden({ group: GROUP, resource: RESOURCE }, name, detail);
}

export interface SignerRight {
  readonly user: UserInfo;
  readonly verb: 'approve' | 'sign' | 'attest';
  readonly signerName: string;
}

/** Whether the user may do it for this signer, or for all signers of its domain. */
export async function isAllowedForSigner(authorizer: Authorizer, { user, verb, signerName }: SignerRight): Promise<boolean> {
  const attributes = {
    user,
    verb,
    isResource: true,
    path: '',
    group: GROUP,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
  };
  for (const name of [signerName, `${signerName.split('/', 1)[0]}/*`]) {
    if ((await authorizer.authorize({ ...attributes, name })).verdict === 'allow') return true;
  }
  return false;
}
