import { TurnBudget } from '#base';
import { StatusError } from '#machinery';
import { createObject } from '../registry/generic/create-object.ts';
import { type AdmissionRequest, type ObjectWrite, STEP_MS } from '../registry/generic/object-write.ts';
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
  const named = withUniqueOwners(body, (message) => warn(call.request, message), IN_REQUEST);
  const updated = withRequestNamespace(withoutMetadata(named, 'deletionTimestamp', 'deletionGracePeriodSeconds'), call);
  const owned = await trackFieldOwnership(call, { live: undefined, updated, options });
  if (turn.isSpent) await turn.next();
  const write = isVersioned(body) && !options.dryRun ? refusedByStore(objectWrite(call)) : objectWrite(call);
  const object = await createObject(write, owned, options);
  if (turn.isSpent) await turn.next();
  return { type: 'object', code: 201, resource: call.resource, object };
}

/** Creates the object of a PUT or apply, which also requires `create`. */
export async function createOnUpdate(call: ResourceCall, object: KubeObject, options: WriteOptions): Promise<VersionedObject> {
  await authorizeCreation(call);
  return createObject(objectWrite(call), object, options);
}

function isVersioned({ metadata: { resourceVersion = '' } }: KubeObject): boolean {
  return isResourceVersion(resourceVersion) && Number(resourceVersion) > 0;
}

/** As upstream's store, which comes after admission and validation: an object that has a resourceVersion is an error (500). */
function refusedByStore(write: ObjectWrite): ObjectWrite {
  const validate = async (request: AdmissionRequest) => {
    await write.validate(request);
    throw new Error('resourceVersion should not be set on objects to be created');
  };
  return { ...write, validate };
}

function checkNamespace({ metadata }: KubeObject, { resource, namespace }: ResourceCall): void {
  if (resource.namespaced && metadata.namespace && metadata.namespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function withRequestNamespace(object: KubeObject, { resource, namespace }: ResourceCall): KubeObject {
  return resource.namespaced ? withMetadata(object, { namespace }) : withoutMetadata(object, 'namespace');
}
