import { type DeleteOptions, deleteObject } from '../registry/generic/delete-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { ApiResponse } from './api-response.ts';
import { deleteOptions } from './delete-options.ts';
import { objectWrite } from './object-write.ts';
import type { ResourceCall } from './resource-call.ts';

export async function handleDelete(call: ResourceCall): Promise<ApiResponse> {
  const options = await deleteOptions(call);
  const { object, isGone } = await deleteObject(objectWrite(call), options);
  const { resource } = call;
  if (!isGone || resource.strategy.returnsDeletedObject)
    return { type: 'object', code: isGone ? 200 : pendingDeletionCode(options), resource, object };
  return { type: 'plain', code: 200, object: deletedStatus(call, object.object) };
}

/** As upstream: 202 for a pending deletion only with the deprecated `orphanDependents: false`. */
function pendingDeletionCode({ orphanDependents }: DeleteOptions): number {
  return orphanDependents === false ? 202 : 200;
}

function deletedStatus({ resource, name }: ResourceCall, object: KubeObject) {
  const details = { name, ...(resource.group && { group: resource.group }), kind: resource.resource, uid: object.metadata.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
