import { TurnBudget } from '#base';
import { StatusError } from '#machinery';
import { createObject } from '../registry/generic/create-object.ts';
import { STEP_MS } from '../registry/generic/object-write.ts';
import { IN_REQUEST, withUniqueOwners } from '../registry/generic/owner-references.ts';
import { warn } from '../request/api-request.ts';
import { isResourceVersion } from '../request/resource-version.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import { type KubeObject, withMetadata, withoutMetadata } from '../watch-cache/kube-object.ts';
import type { ApiResponse } from './api-response.ts';
import { authorizeCreation } from './authorize-creation.ts';
import { decodeBody } from './decode-body.ts';
import { trackFieldOwnership } from './field-ownership.ts';
import { objectWrite } from './object-write.ts';
import type { ResourceCall } from './resource-call.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export async function handleCreate(call: ResourceCall): Promise<ApiResponse> {
  const options = writeOptions(call.request, 'CreateOptions');
  const turn = new TurnBudget(call.deps.clock, STEP_MS);
  const body = await decodeBody(call, options.fieldValidation);
  if (turn.isSpent) await turn.next();
  checkNamespace(body, call);
  if (!options.dryRun) checkUnversioned(body);
  const named = withUniqueOwners(body, (message) => warn(call.request, message), IN_REQUEST);
  const updated = withRequestNamespace(withoutMetadata(named, 'deletionTimestamp', 'deletionGracePeriodSeconds'), call);
  const owned = await trackFieldOwnership(call, { live: undefined, updated, options });
  if (turn.isSpent) await turn.next();
  const object = await createObject(objectWrite(call), owned, options);
  if (turn.isSpent) await turn.next();
  return { type: 'object', code: 201, resource: call.resource, object };
}

/** Creates the object of a PUT or apply, which also requires `create`. */
export async function createOnUpdate(call: ResourceCall, object: KubeObject, options: WriteOptions): Promise<VersionedObject> {
  await authorizeCreation(call);
  return createObject(objectWrite(call), object, options);
}

/** As upstream's store: a resourceVersion that could be one is an error (500) on create. */
function checkUnversioned({ metadata: { resourceVersion = '' } }: KubeObject): void {
  if (isResourceVersion(resourceVersion) && Number(resourceVersion) > 0)
    throw new Error('resourceVersion should not be set on objects to be created');
}

function checkNamespace({ metadata }: KubeObject, { resource, namespace }: ResourceCall): void {
  if (resource.namespaced && metadata.namespace && metadata.namespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function withRequestNamespace(object: KubeObject, { resource, namespace }: ResourceCall): KubeObject {
  return resource.namespaced ? withMetadata(object, { namespace }) : withoutMetadata(object, 'namespace');
}
