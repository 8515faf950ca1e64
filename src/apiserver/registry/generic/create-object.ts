import { isPromise, TurnBudget } from '#base';
import { StatusError } from '#machinery';
import { type CachedObject, ConvertedObject, type VersionedObject } from '../../watch-cache/cached-object.ts';
import { type KubeObject, withMetadata } from '../../watch-cache/kube-object.ts';
import { beforeCreate, generateName } from './lifecycle.ts';
import { fromInternal, internalResource, toInternal, toStoredForm } from './object-forms.ts';
import {
  type AdmissionRequest,
  type CommonOptions,
  groupResourceOf,
  inVersion,
  type ObjectWrite,
  STEP_MS,
  withReservation,
  writeContext,
} from './object-write.ts';
import { AFTER_ADMISSION, withUniqueOwners } from './owner-references.ts';

const NAME_ATTEMPTS = 8;

/** Creates an object that is decoded, defaulted and has its fields owned. A generated name that is taken is generated again. */
export async function createObject(write: ObjectWrite, object: KubeObject, options: CommonOptions): Promise<VersionedObject> {
  const attempts = object.metadata.name === '' || object.metadata.name === undefined ? NAME_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const withGeneratedName = withName(object, write);
    const created = await tryCreate(write, withGeneratedName, options);
    if (created instanceof ConvertedObject) return created;
    if (created !== undefined) return write.resource.remote === undefined ? created.as(write.resource) : inVersion(write.resource, created);
    if (attempt >= attempts) throw await alreadyExists(write, withGeneratedName);
  }
}

/** Generates a name. Objects without any name are rejected by their kind's validation. */
function withName(object: KubeObject, { resource, random }: ObjectWrite): KubeObject {
  const { name, generateName: base } = object.metadata;
  if (name || !base) return name === undefined ? withMetadata(object, { name: '' }) : object;
  return withMetadata(object, { name: resource.strategy.namedByBase ? base : generateName(base, random) });
}

/** As upstream: with a generateName the message blames the generated name, even if the client set a name. */
async function alreadyExists(write: ObjectWrite, { metadata: { name, generateName: base } }: KubeObject): Promise<StatusError> {
  const error = base
    ? StatusError.generateNameConflict(groupResourceOf(write), name, 1)
    : StatusError.alreadyExists(groupResourceOf(write), name);
  const present = await write.resource.storage.get(write.namespace, name);
  if (!present?.object.metadata.deletionTimestamp) return error;
  return StatusError.fromStatus({ ...error.status, message: `object is being deleted: ${error.message}` });
}

async function tryCreate(
  write: ObjectWrite,
  object: KubeObject,
  { dryRun, raw }: CommonOptions,
): Promise<CachedObject | ConvertedObject | undefined> {
  const { resource } = write;
  const turn = new TurnBudget(write.clock, STEP_MS);
  const attributes = { operation: 'CREATE', oldObject: undefined, dryRun, options: raw, name: object.metadata.name } as const;
  const admitted = (await write.admit(Object.assign({ object }, attributes))) as KubeObject;
  if (turn.isSpent) await turn.next();
  // Admission that changes an object without a name decodes it anew.
  const named = admitted.metadata.name === undefined ? withMetadata(admitted, { name: '' }) : admitted;
  const internal = toInternal(resource, withUniqueOwners(named, write.warn, AFTER_ADMISSION));
  const reserving = internalResource(resource).reserve?.(internal, undefined, dryRun);
  return withReservation(reserving, dryRun, (reserved) => validateAndStore(write, reserved ?? internal, attributes));
}

async function validateAndStore(
  write: ObjectWrite,
  object: KubeObject,
  attributes: Omit<AdmissionRequest, 'object'>,
): Promise<CachedObject | ConvertedObject | undefined> {
  const { resource, namespace } = write;
  const context = writeContext(write);
  const turn = new TurnBudget(write.clock, STEP_MS);
  const { strategy } = context.resource;
  for (const warning of strategy.incomingWarnings?.(object) ?? []) write.warn(warning);
  const validated = beforeCreate(object, context);
  const prepared = isPromise(validated) ? await validated : validated;
  if (turn.isSpent) await turn.next();
  for (const warning of strategy.warnings?.(prepared) ?? []) write.warn(warning);
  const served = fromInternal(resource, prepared);
  await write.validate(Object.assign({ object: served }, attributes));
  const { name } = prepared.metadata;
  if (attributes.dryRun) return (await resource.storage.get(namespace, name)) ? undefined : new ConvertedObject(served, 0);
  return resource.storage.create(resource.storage.keyOf(namespace, name), await toStoredForm(resource, prepared));
}
