import { StatusError } from '#machinery';
import { type KubeObject, withMetadata, withoutMetadata } from '../registry/kube-object.ts';
import { beforeCreate, generateName, type WriteContext } from '../registry/lifecycle.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import { warn } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { type CachedObject, ConvertedObject, type VersionedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { authorizeCreation } from './authorize-creation.ts';
import { decodeBody } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import { fromRuled, ruledResource, toRuled, toStoredForm } from './object-forms.ts';
import { type AdmissionRequest, admissionAttributes, groupResource, type ResourceCall, scopeOf } from './resource-call.ts';
import { isResourceVersion } from './resource-version.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

const NAME_ATTEMPTS = 8;

export async function handleCreate(call: ResourceCall): Promise<ApiResponse> {
  const options = writeOptions(call.request, 'CreateOptions');
  const body = await decodeBody(call, options.fieldValidation);
  checkPlace(body, call);
  if (!options.dryRun) refuseVersion(body);
  const owned = ownFields(call, {
    live: undefined,
    updated: withPlace(withoutMetadata(body, 'deletionTimestamp', 'deletionGracePeriodSeconds'), call),
    options,
  });
  return { type: 'object', code: 201, resource: call.resource, object: await createObject(call, owned, options) };
}

/** Creates an object that is decoded, defaulted and has its fields owned: admission, validation, store. */
export async function createObject(call: ResourceCall, object: KubeObject, options: WriteOptions) {
  const { resource } = call;
  await authorizeCreation(call, options);
  const attempts = object.metadata.name === '' || object.metadata.name === undefined ? NAME_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const named = nameObject(object, call);
    const created = await tryCreate(call, named, options);
    if (created instanceof ConvertedObject) return created;
    if (created !== undefined) return resource.remote === undefined ? created.as(resource) : versionOf(created, resource);
    if (attempt >= attempts) throw await nameTaken(call, named);
  }
}

async function versionOf(created: CachedObject, resource: ServedResource): Promise<VersionedObject> {
  await loadVersions(resource, [created]);
  return created.as(resource);
}

/** As upstream: a base for names blames the server's choice even when the client named the object itself. */
async function nameTaken(call: ResourceCall, { metadata: { name, generateName: base } }: KubeObject): Promise<StatusError> {
  const taken = base
    ? StatusError.generateNameConflict(groupResource(call), name, 1)
    : StatusError.alreadyExists(groupResource(call), name);
  const present = await call.resource.storage!.get(call.namespace, name);
  if (!present?.object.metadata.deletionTimestamp) return taken;
  return StatusError.fromStatus({ ...taken.status, message: `object is being deleted: ${taken.message}` });
}

async function tryCreate(
  call: ResourceCall,
  object: KubeObject,
  options: WriteOptions,
): Promise<CachedObject | ConvertedObject | undefined> {
  const { resource, deps } = call;
  const { dryRun, raw } = options;
  const attributes = { operation: 'CREATE', oldObject: undefined, dryRun, options: raw, name: object.metadata.name } as const;
  const admitted = (await deps.admission.admit(admissionAttributes(call, Object.assign({ object }, attributes)))) as KubeObject;
  const ruled = toRuled(resource, admitted);
  const reserving = ruledResource(resource).reserve?.(ruled, undefined, dryRun);
  const reserved = reserving && (await reserving);
  try {
    const created = await validateAndStore(call, reserved?.object ?? ruled, attributes);
    if (created === undefined) await reserved?.release();
    return created;
  } catch (error) {
    await reserved?.release();
    throw error;
  }
}

async function validateAndStore(
  call: ResourceCall,
  object: KubeObject,
  attributes: Omit<AdmissionRequest, 'object'>,
): Promise<CachedObject | ConvertedObject | undefined> {
  const { resource, namespace, deps } = call;
  const context: WriteContext = {
    resource: ruledResource(resource),
    subresource: '',
    namespace,
    scope: scopeOf(call),
    random: deps.random,
  };
  const { strategy } = context.resource;
  for (const warning of strategy.incomingWarnings?.(object) ?? []) warn(call.request, warning);
  const prepared = beforeCreate(object, context);
  for (const warning of strategy.warnings?.(prepared) ?? []) warn(call.request, warning);
  const served = fromRuled(resource, prepared);
  await deps.admission.validate(admissionAttributes(call, Object.assign({ object: served }, attributes)));
  const { name } = prepared.metadata;
  if (!attributes.dryRun) {
    const stored = toStoredForm(resource, prepared);
    return resource.storage!.create(resource.storage!.keyOf(namespace, name), stored instanceof Promise ? await stored : stored);
  }
  return (await resource.storage!.get(namespace, name)) ? undefined : new ConvertedObject(served, 0);
}

/** What is not yet stored has no version; upstream's store minds one only if it could be true. */
function refuseVersion({ metadata: { resourceVersion = '' } }: KubeObject): void {
  if (isResourceVersion(resourceVersion) && Number(resourceVersion) > 0)
    throw new Error('resourceVersion should not be set on objects to be created');
}

function checkPlace(object: KubeObject, { resource, namespace }: ResourceCall): void {
  const given = object.metadata.namespace ?? '';
  if (resource.namespaced && given !== '' && given !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function withPlace(object: KubeObject, { resource, namespace }: ResourceCall): KubeObject {
  return resource.namespaced ? withMetadata(object, { namespace }) : withoutMetadata(object, 'namespace');
}

/** Fills in a generated name. Objects without any are refused by validation, which words it for each kind. */
function nameObject(object: KubeObject, { resource, deps }: ResourceCall): KubeObject {
  const { name, generateName: base } = object.metadata;
  if (name || !base) return name === undefined ? withMetadata(object, { name: '' }) : object;
  return withMetadata(object, { name: resource.strategy.namedByBase ? base : generateName(base, deps.random) });
}
