import { StatusError } from '#machinery';
import { IN_REQUEST, withUniqueOwners } from '../registry/generic/owner-references.ts';
import { updateObject } from '../registry/generic/update-object.ts';
import { warn } from '../request/api-request.ts';
import { type KubeObject, withMetadata, withoutMetadata } from '../watch-cache/kube-object.ts';
import type { ApiResponse } from './api-response.ts';
import { createOnUpdate } from './create.ts';
import { decodeBody } from './decode-body.ts';
import { trackFieldOwnership } from './field-ownership.ts';
import { objectWrite } from './object-write.ts';
import { checkPathName, type ResourceCall } from './resource-call.ts';
import { writeOptions } from './write-options.ts';

export async function handleUpdate(call: ResourceCall): Promise<ApiResponse> {
  const { resource, subresource } = call;
  const options = writeOptions(call.request, 'UpdateOptions');
  const replacement = await decodeBody(call, options.fieldValidation, sharedObject(call));
  const { name, generateName } = replacement.metadata;
  if (!name && generateName === undefined && resource.custom) checkName('', call.name);
  const decoded = withRequestIdentity(replacement, call);
  checkPathName(call.name);
  const body = withUniqueOwners(decoded, (message) => warn(call.request, message), IN_REQUEST);
  const create = async () => createOnUpdate(call, await trackFieldOwnership(call, { live: undefined, updated: body, options }), options);
  const { object, created } = await updateObject(objectWrite(call), {
    options,
    replaces: true,
    expectedUid: body.metadata.uid,
    compute: (live) => trackFieldOwnership(call, { live, updated: body, options }),
    ...(subresource === '' && resource.strategy.allowCreateOnUpdate && { create }),
  });
  return { type: 'object', code: created ? 201 : 200, resource, object };
}

/** The stored object, which the body of an in-process client shares unchanged parts with. */
function sharedObject({ request, resource, namespace, name }: ResourceCall): KubeObject | undefined {
  const { storage } = resource;
  if (request.body.type !== 'object' || resource.fromStored !== undefined || resource.remote !== undefined || !storage.isCurrent)
    return undefined;
  return storage.cache.get(storage.keyOf(namespace, name))?.object;
}

/** The object with the name and namespace of the URL, which it must not contradict. */
export function withRequestIdentity(object: KubeObject, { resource, name, namespace }: ResourceCall): KubeObject {
  // Applied custom resources may lack it.
  const metadata = object.metadata ?? {};
  if (metadata.name) checkName(metadata.name, name);
  else throw StatusError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (!resource.namespaced) return withoutMetadata(object, 'namespace');
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return metadata.namespace === namespace ? object : withMetadata(object, { namespace });
}

export function checkName(bodyName: string, name: string): void {
  if (bodyName !== name) throw StatusError.badRequest(`the name of the object (${bodyName}) does not match the name on the URL (${name})`);
}
