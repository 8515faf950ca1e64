import { StatusError } from '#machinery';
import { type KubeObject, withMetadata, withoutMetadata } from '../registry/kube-object.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { createObject } from './create.ts';
import { decodeBody } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import type { ResourceCall } from './resource-call.ts';
import { updateObject } from './update-object.ts';
import { writeOptions } from './write-options.ts';

export async function handleUpdate(call: ResourceCall): Promise<ApiResponse> {
  const { resource, subresource } = call;
  const options = writeOptions(call.request, 'UpdateOptions');
  const body = identified(await decodeBody(call, options.fieldValidation), call);
  const create = () => createObject(call, ownFields(call, { live: undefined, updated: body, options }), options);
  const { object, created } = await updateObject(call, {
    options,
    replaces: true,
    expectedUid: body.metadata.uid,
    compute: (live) => ownFields(call, { live, updated: body, options }),
    ...(subresource === '' && resource.strategy.allowCreateOnUpdate && { create }),
  });
  return { type: 'object', code: created ? 201 : 200, resource, object };
}

/** The object with the name and namespace of the URL, which it must not contradict. */
export function identified(object: KubeObject, { resource, name, namespace }: ResourceCall): KubeObject {
  const given = object.metadata;
  if (!given.name && given.generateName === undefined && resource.custom) checkName('', name);
  if (given.name) checkName(given.name, name);
  else throw StatusError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (!resource.namespaced) return withoutMetadata(object, 'namespace');
  if (given.namespace && given.namespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return given.namespace === namespace ? object : withMetadata(object, { namespace });
}

export function checkName(given: string, name: string): void {
  if (given !== name) throw StatusError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}
