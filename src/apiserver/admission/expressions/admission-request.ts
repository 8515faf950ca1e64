import type { GroupVersionKind } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { UserInfo } from '../../request/user.ts';
import { admissionNamespace, kindFor } from '../matching/admission-kind.ts';
import type { VersionedRequest } from '../matching/versioned-request.ts';

/** The AdmissionRequest for webhooks and expressions, without its objects. Empty members are omitted. */
export function admissionRequest({ attributes, match }: VersionedRequest, resource = match.resource): Readonly<Record<string, unknown>> {
  const { subresource, name, operation, user, dryRun, options } = attributes;
  const namespace = admissionNamespace(attributes);
  return {
    kind: kindMember(match.kind),
    resource: resourceMember(resource),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: kindMember(kindFor(attributes.resource, subresource)),
    requestResource: resourceMember(attributes.resource),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userMember(user),
    dryRun,
    options: options ?? null,
  };
}

function kindMember({ group, version, kind }: GroupVersionKind) {
  return { group, version, kind };
}

function resourceMember({ group, version, resource }: ServedResource) {
  return { group, version, resource };
}

export function userMember({ name, uid, groups, extra }: UserInfo) {
  return {
    ...(name !== '' && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
