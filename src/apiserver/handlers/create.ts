import { StatusError } from '#machinery';
import { type KubeObject, withMetadata } from '../registry/kube-object.ts';
import { beforeCreate, generateName, type WriteContext } from '../registry/lifecycle.ts';
import { warn } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { type CachedObject, ConvertedObject } from '../watch-cache/cached-object.ts';
import { decodeBody } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import { admissionAttributes, groupResource, type ResourceCall, scopeOf } from './resource-call.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

const NAME_ATTEMPTS = 8;

export async function handleCreate(call: ResourceCall): Promise<ApiResponse> {
  const options = writeOptions(call.request, 'CreateOptions');
  const body = await decodeBody(call, options.fieldValidation);
  checkPlace(body, call);
  const owned = ownFields(call, { live: undefined, updated: withPlace(body, call), options });
  return { type: 'object', code: 201, resource: call.resource, object: await createObject(call, owned, options) };
}

/** Creates an object that is decoded, defaulted and has its fields owned: admission, validation, store. */
export async function createObject(call: ResourceCall, object: KubeObject, options: WriteOptions) {
  const { resource } = call;
  const attempts = object.metadata.name === '' || object.metadata.name === undefined ? NAME_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const named = nameObject(object, call);
    const created = await tryCreate(call, named, options);
    if (created !== undefined) return created instanceof ConvertedObject ? created : created.as(resource);
    if (attempt < attempts) continue;
    if (attempts > 1) throw StatusError.generateNameConflict(groupResource(call), named.metadata.name, 1);
    throw StatusError.alreadyExists(groupResource(call), named.metadata.name);
  }
}

async function tryCreate(
  call: ResourceCall,
  object: KubeObject,
  options: WriteOptions,
): Promise<CachedObject | ConvertedObject | undefined> {
  const { resource, namespace, deps } = call;
  const { dryRun, raw } = options;
  const request = { operation: 'CREATE', oldObject: undefined, dryRun, options: raw, name: object.metadata.name } as const;
  const admitted = (await deps.admission.admit(admissionAttributes(call, { ...request, object }))) as KubeObject;
  const stored = resource.toStored?.(admitted) ?? admitted;
  const context: WriteContext = {
    resource: resource.storedAs ?? resource,
    subresource: '',
    namespace,
    scope: scopeOf(call),
    random: deps.random,
  };
  const prepared = beforeCreate(stored, context);
  for (const warning of context.resource.strategy.warnings?.(prepared) ?? []) warn(call.request, warning);
  const validated = resource.fromStored?.(prepared) ?? prepared;
  await deps.admission.validate(admissionAttributes(call, { ...request, object: validated }));
  const reserved = await context.resource.reserve?.(prepared, undefined, dryRun);
  const final = reserved?.object ?? prepared;
  const key = resource.storage!.keyOf(namespace, final.metadata.name);
  if (dryRun)
    return (await resource.storage!.get(namespace, final.metadata.name))
      ? undefined
      : new ConvertedObject(resource.fromStored?.(final) ?? final, 0);
  try {
    const created = await resource.storage!.create(key, final);
    if (created === undefined) await reserved?.release();
    return created;
  } catch (error) {
    await reserved?.release();
    throw error;
  }
}

function checkPlace(object: KubeObject, { resource, namespace }: ResourceCall): void {
  const given = object.metadata.namespace ?? '';
  if (resource.namespaced ? given !== '' && given !== namespace : given !== '') {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function withPlace(object: KubeObject, { resource, namespace }: ResourceCall): KubeObject {
  return resource.namespaced ? withMetadata(object, { namespace }) : object;
}

/** Fills in a generated name. Objects without any are refused by validation, which words it for each kind. */
function nameObject(object: KubeObject, { deps }: ResourceCall): KubeObject {
  const { name, generateName: base } = object.metadata;
  if (name || !base) return name === undefined ? withMetadata(object, { name: '' }) : object;
  return withMetadata(object, { name: generateName(base, deps.random) });
}
