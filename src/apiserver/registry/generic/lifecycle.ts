import { meta } from '#api';
import { type Clock, type MaybePromise, mapMaybePromise, type Random, runInTurns } from '#base';
import {
  FieldError,
  formatTime,
  type JsonValue,
  nameIsPathSegment,
  Path,
  reportedErrors,
  StatusError,
  semanticEqual,
  TooManyFieldErrors,
} from '#machinery';
import { type KubeObject, withoutMetadata } from '../../watch-cache/kube-object.ts';
import { withExplicitEmpties, withoutEmptyLists } from './empty-lists.ts';
import { emptyStatusOf } from './empty-status.ts';
import type { ServedResource } from './served-resource.ts';
import type { RequestScope } from './strategy.ts';

/** The context of a write. */
export interface WriteContext {
  readonly resource: ServedResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly scope: RequestScope;
  readonly random: Random;
  readonly clock: Clock;
  readonly document: (() => JsonValue | undefined) | undefined;
}

/** A new object as it is to be stored: system fields set, status cleared, validated. */
export function beforeCreate(object: KubeObject, context: WriteContext): MaybePromise<KubeObject> {
  const { resource, scope } = context;
  const { strategy } = resource;
  const metadata = ownMetadata(object, context);
  const owned = Object.assign({}, object, strategy.hasStatus ? { metadata, status: emptyStatusOf(resource) } : { metadata });
  const prepared = strategy.prepareForCreate?.(owned, scope) ?? owned;
  const { name } = prepared.metadata;
  return mapMaybePromise(createErrors(prepared, context), (errors) => {
    rejectInvalid(context, name, errors);
    rejectInvalid(
      context,
      name,
      reportedErrors(() => meta.validateObjectMeta(prepared.metadata, commonRules(resource))),
    );
    return canonical(resource, prepared);
  });
}

function canonical({ schema, strategy }: ServedResource, object: KubeObject): KubeObject {
  return withoutEmptyLists(schema, strategy.canonicalize?.(object) ?? object);
}

function ownMetadata(object: KubeObject, { resource, namespace, scope, random }: WriteContext): KubeObject['metadata'] {
  const { metadata } = withoutMetadata(object, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'resourceVersion');
  const { tracksGeneration, namesUnnamed } = resource.strategy;
  const set = { uid: random.uuid(), creationTimestamp: formatTime(scope.now) };
  const generatedName = namesUnnamed && !metadata.name && { name: random.uuid() };
  return Object.assign({}, metadata, generatedName, resource.namespaced && { namespace }, set, tracksGeneration && { generation: 1 });
}

/** Prepares an update: restores immutable metadata and the other half of the object, and validates it. */
export function beforeUpdate(object: KubeObject, old: KubeObject, context: WriteContext): MaybePromise<KubeObject> {
  const { resource, subresource } = context;
  const restored = restoreMetadata(object, old);
  const prepared = subresource === '' ? prepareMain(restored, old, context) : prepareSubresource(restored, old, context);
  // Upstream validates metadata generically and again by the kind's own rules: an error that both find appears twice.
  return mapMaybePromise(updateErrors(prepared, old, context), (errors) => {
    const metaErrors = reportedErrors(() => validateCommonUpdate(prepared, old, resource));
    rejectInvalid(context, old.metadata.name, metaErrors.length === 0 ? errors : [...metaErrors, ...errors]);
    return canonical(resource, prepared);
  });
}

function validateCommonUpdate({ metadata }: KubeObject, old: KubeObject, resource: ServedResource): readonly FieldError[] {
  const errors = meta.validateObjectMetaUpdate(metadata, old.metadata, { anyFinalizer: true });
  return meta.isUnchangedMeta(metadata, old.metadata) ? errors : [...meta.validateObjectMeta(metadata, commonRules(resource)), ...errors];
}

function commonRules({ namespaced }: ServedResource) {
  return { namespaced, nameRule: nameIsPathSegment, anyFinalizer: true };
}

function restoreMetadata(object: KubeObject, old: KubeObject): KubeObject {
  const oldMetadata = old.metadata;
  const { metadata } =
    oldMetadata.generation === undefined ? withoutMetadata(object, 'selfLink', 'generation') : withoutMetadata(object, 'selfLink');
  const restored = Object.assign({}, metadata, {
    // Some kinds require it; the store sets the final one.
    resourceVersion: oldMetadata.resourceVersion,
    uid: metadata.uid || oldMetadata.uid,
    creationTimestamp: oldMetadata.creationTimestamp,
  });
  for (const name of CARRIED_OVER_IF_UNSET)
    if (metadata[name] === undefined && oldMetadata[name] !== undefined) Object.assign(restored, { [name]: oldMetadata[name] });
  if (oldMetadata.generation !== undefined) restored.generation = oldMetadata.generation;
  return Object.assign({}, object, { metadata: restored });
}

const CARRIED_OVER_IF_UNSET = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

function prepareMain(object: KubeObject, old: KubeObject, { resource, scope }: WriteContext): KubeObject {
  const { strategy } = resource;
  let prepared = object;
  if (strategy.hasStatus) prepared = withStatus(prepared, old.status);
  prepared = strategy.prepareForUpdate?.(prepared, old, scope) ?? prepared;
  if (strategy.tracksGeneration && !sameIntent(prepared, old, resource)) {
    prepared = { ...prepared, metadata: { ...prepared.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
  }
  return prepared;
}

function prepareSubresource(object: KubeObject, old: KubeObject, { resource, subresource, scope }: WriteContext): KubeObject {
  const { strategy } = resource;
  if (subresource === 'status' && strategy.subresources?.status === undefined) {
    const prepared: KubeObject = withStatus({ ...old, metadata: object.metadata }, object.status);
    return strategy.prepareForStatusUpdate?.(prepared, old, scope) ?? prepared;
  }
  const result = strategy.subresources?.[subresource]?.prepareForUpdate(object, old, scope) ?? object;
  if (result instanceof StatusError) throw result;
  return result;
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  if (object.status === status) return object;
  if (status !== undefined) return { ...object, status };
  const { status: _, ...rest } = object;
  return rest as KubeObject;
}

/** Whether everything but metadata and status is the same. */
function sameIntent(a: KubeObject, b: KubeObject, { custom, subresources }: ServedResource): boolean {
  // A custom kind without a status subresource has no status, only a field of that name.
  const isStatusIntent = custom && !subresources.has('status');
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (key === 'metadata' || (key === 'status' && !isStatusIntent) || key === 'kind' || key === 'apiVersion') continue;
    if (a[key] !== b[key] && !semanticEqual(a[key] as JsonValue, b[key] as JsonValue)) return false;
  }
  return true;
}

function createErrors(object: KubeObject, { resource: { strategy }, clock }: WriteContext): MaybePromise<readonly FieldError[]> {
  const steps = strategy.validationSteps?.(object, { old: undefined, isStatus: false });
  return steps === undefined ? reportedErrors(() => strategy.validate?.(object) ?? []) : runInTurns(reported(steps), clock);
}

function updateErrors(object: KubeObject, old: KubeObject, context: WriteContext): MaybePromise<readonly FieldError[]> {
  const { resource, subresource, clock } = context;
  const isStatus = subresource === 'status';
  const hasSteps = subresource === '' || (isStatus && resource.strategy.subresources?.status === undefined);
  const steps = hasSteps ? resource.strategy.validationSteps?.(object, { old, isStatus }) : undefined;
  return steps === undefined ? reportedErrors(() => validateUpdate(object, old, context)) : runInTurns(reported(steps), clock);
}

/** As `reportedErrors`. */
function* reported(steps: Generator<void, readonly FieldError[]>): Generator<void, readonly FieldError[]> {
  try {
    return yield* steps;
  } catch (error) {
    if (error instanceof TooManyFieldErrors) return error.errors;
    throw error;
  }
}

function validateUpdate(object: KubeObject, old: KubeObject, { resource, subresource }: WriteContext): readonly FieldError[] {
  const { strategy } = resource;
  if (subresource === '') return strategy.validateUpdate?.(object, old) ?? [];
  const special = strategy.subresources?.[subresource];
  if (special !== undefined) return special.validateUpdate(object, old);
  if (subresource === 'status') return (strategy.validateStatusUpdate ?? strategy.validateUpdate)?.(object, old) ?? [];
  return strategy.validateUpdate?.(object, old) ?? [];
}

function rejectInvalid({ resource, document }: WriteContext, name: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const group = resource.strategy.invalidGroup ?? resource.group;
  throw StatusError.invalid({ group, kind: resource.kind }, name, withExplicitEmpties(resource.schema, errors, document?.()));
}

/** The error of a PUT without a resourceVersion, for kinds that require one. */
export function resourceVersionRequired(resource: ServedResource, name: string): StatusError {
  const error = FieldError.invalid(Path.of('metadata', 'resourceVersion'), 0, 'must be specified for an update');
  return StatusError.invalid({ group: resource.group, kind: resource.resource }, name, [error]);
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_BASE_LENGTH = 58;

export function generateName(base: string, random: Random): string {
  return base.slice(0, MAX_BASE_LENGTH) + random.string(SUFFIX_ALPHABET, 5);
}
