import { autoscaling, type TableDefinition } from '#api';
import {
  applyPatch,
  FieldError,
  formatTime,
  type ManagedFieldsEntry,
  managedFieldsAfterScale,
  Path,
  type ReplicasPaths,
  StatusError,
  scaleManagedFields,
  updateManagedFields,
} from '#machinery';
import { appliedConfig } from '../../handlers/apply.ts';
import { decodeBodyAs } from '../../handlers/decode-body.ts';
import { PATCH_TYPES, patchBody, patchedAs, patchTypeErrors, patchTypeOf } from '../../handlers/patch.ts';
import { groupResource, type ResourceCall } from '../../handlers/resource-call.ts';
import { checkName } from '../../handlers/update.ts';
import { updateObject } from '../../handlers/update-object.ts';
import { type WriteOptions, writeOptions } from '../../handlers/write-options.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import { queryFlag } from '../../request/query-values.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';
import type { KubeObject } from '../kube-object.ts';
import type { ServedSubresource } from '../served-resource.ts';

type Scale = autoscaling.Scale;

/** Where a kind keeps what its scale shows. */
export interface ScaleFields {
  /** Undefined when the object does not say. */
  replicas(object: KubeObject): number | undefined;
  withReplicas(object: KubeObject, replicas: number): KubeObject;
  statusReplicas(object: KubeObject): number;
  /** A label selector as text; undefined when the kind has none. */
  selector(object: KubeObject): string | undefined;
  /** The failure of reading an object that does not say how many it wants. */
  missing?(): StatusError;
  /** In each version of the kind. */
  readonly paths: ReplicasPaths;
}

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const EXPECTED = { ...SCALE_KIND, apiVersion: 'autoscaling/v1', schema: autoscaling.Scale, custom: false };

/** How many of something there are and shall be, in the same form for every kind that can be scaled. */
export function scaleSubresource(fields: ScaleFields): ServedSubresource {
  return {
    name: 'scale',
    kind: SCALE_KIND,
    verbs: ['get', 'patch', 'update'],
    callHandler: (call) => (call.request.info.verb === 'get' ? readScale(call, fields) : writeScale(call, fields)),
  };
}

async function readScale(call: ResourceCall, fields: ScaleFields): Promise<ApiResponse> {
  const found = await call.resource.storage!.get(call.namespace, call.name);
  if (found === undefined) throw StatusError.notFound(groupResource(call), call.name);
  await loadVersions(call.resource, [found]);
  const { object } = found.as(call.resource);
  if (fields.replicas(object) === undefined && fields.missing) throw fields.missing();
  return answer(scaleOf(object, fields));
}

function answer(scale: Scale): ApiResponse {
  const table = autoscaling.scaleTable as unknown as TableDefinition<KubeObject>;
  return { type: 'plain', code: 200, object: scale as unknown as Record<string, unknown>, table };
}

function scaleOf(object: KubeObject, fields: ScaleFields): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = fields.replicas(object) ?? 0;
  const selector = fields.selector(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace && { namespace }), uid, resourceVersion, creationTimestamp } as Scale['metadata'],
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: fields.statusReplicas(object), ...(selector && { selector }) },
  } as Scale;
}

async function writeScale(call: ResourceCall, fields: ScaleFields): Promise<ApiResponse> {
  const isPatch = call.request.info.verb === 'patch';
  const options = isPatch
    ? writeOptions(call.request, 'PatchOptions', patchTypeErrors(call.request.query, patchTypeOf(call)))
    : writeOptions(call.request, 'UpdateOptions');
  const change = isPatch ? await patchedScale(call, options) : await replacedScale(call, options);
  const { object } = await updateObject(
    { ...call, subresource: '' },
    { options, replaces: !isPatch, compute: (live) => scaled(call, { live, fields, change }) },
  );
  return answer(scaleOf(object.object, fields));
}

/** The scale that is wanted, given the one that is, with its fields owned. */
type ScaleChange = (current: Scale) => Scale;

async function replacedScale(call: ResourceCall, options: WriteOptions): Promise<ScaleChange> {
  const wanted = (await decodeBodyAs(call.request, EXPECTED, options.fieldValidation)) as unknown as Scale;
  checkPlace(call, wanted);
  return (current) => owned(call, { current, wanted, options });
}

async function patchedScale(call: ResourceCall, options: WriteOptions): Promise<ScaleChange> {
  const type = patchTypeOf(call);
  if (type === PATCH_TYPES.apply) return appliedScale(call, options);
  const readPatch = await patchBody(call, { type, options });
  return (current) => {
    const wanted = patchedAs<Scale>(call, { expected: EXPECTED, live: current, patch: readPatch(), type, options });
    checkPlace(call, wanted);
    return owned(call, { current, wanted, options });
  };
}

/** A scale is that of the object in the URL, and says so. */
function checkPlace({ resource, name, namespace }: ResourceCall, { metadata }: Scale): void {
  const given = metadata?.name ?? '';
  if (given === '') throw StatusError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  checkName(given, name);
  if (resource.namespaced && metadata?.namespace && metadata.namespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

async function appliedScale(call: ResourceCall, options: WriteOptions): Promise<ScaleChange> {
  const applied = await appliedConfig(call, options);
  const force = queryFlag(call.request.query, 'force') ?? false;
  const now = formatTime(call.deps.clock.now());
  return (current) =>
    applyPatch({
      schema: autoscaling.Scale,
      kind: SCALE_KIND,
      live: current,
      applied,
      manager: options.fieldManager,
      force,
      subresource: 'scale',
      now,
    }) as unknown as Scale;
}

function owned(call: ResourceCall, { current, wanted, options }: { current: Scale; wanted: Scale; options: WriteOptions }): Scale {
  return updateManagedFields({
    schema: autoscaling.Scale,
    apiVersion: 'autoscaling/v1',
    live: current,
    updated: wanted,
    manager: options.fieldManager,
    subresource: 'scale',
    now: formatTime(call.deps.clock.now()),
    resetFields: [['status']],
  });
}

interface Scaling {
  readonly live: KubeObject;
  readonly fields: ScaleFields;
  readonly change: ScaleChange;
}

function scaled(call: ResourceCall, { live, fields, change }: Scaling): KubeObject {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFieldsEntry[];
  const current = scaleOf(live, fields);
  const managedNow = scaleManagedFields(entries, fields.paths);
  const managed = { ...current, metadata: { ...current.metadata, ...(managedNow && { managedFields: managedNow }) } } as Scale;
  const wanted = change(managed);
  checkName(wanted.metadata?.name ?? call.name, call.name);
  const replicas = wanted.spec?.replicas ?? 0;
  if (replicas < 0) throw negative(call.name, replicas);
  const managedFields = managedFieldsAfterScale({
    entries,
    scaleEntries: (wanted.metadata?.managedFields ?? []) as readonly ManagedFieldsEntry[],
    apiVersion: call.resource.apiVersion,
    paths: fields.paths,
  });
  const updated = fields.withReplicas(live, replicas);
  const { uid = live.metadata.uid, resourceVersion = '' } = wanted.metadata ?? {};
  const { managedFields: _, ...kept } = updated.metadata;
  return { ...updated, metadata: { ...kept, ...(managedFields && { managedFields }), uid, resourceVersion } as KubeObject['metadata'] };
}

function negative(name: string, replicas: number): StatusError {
  const error = FieldError.invalid(Path.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0');
  return StatusError.invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
}
