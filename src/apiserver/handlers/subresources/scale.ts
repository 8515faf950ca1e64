import { autoscaling, type TableDefinition } from '#api';
import {
  applyPatch,
  FieldError,
  formatTime,
  type ManagedFieldsEntry,
  managedFieldsAfterScale,
  Path,
  StatusError,
  scaleManagedFields,
  updateManagedFields,
} from '#machinery';
import type { ScaleFields } from '../../registry/generic/scale-fields.ts';
import { updateObject } from '../../registry/generic/update-object.ts';
import { queryFlag } from '../../request/query-values.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';
import type { ApiResponse } from '../api-response.ts';
import { appliedConfig } from '../apply.ts';
import { decodeBodyAs } from '../decode-body.ts';
import { objectWrite } from '../object-write.ts';
import { applyPatchAs, PATCH_TYPES, patchBody, patchTypeErrors, patchTypeOf } from '../patch.ts';
import { groupResource, type ResourceCall } from '../resource-call.ts';
import { checkName } from '../update.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

type Scale = autoscaling.Scale;

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const EXPECTED = { ...SCALE_KIND, apiVersion: 'autoscaling/v1', schema: autoscaling.Scale, custom: false };

/** Reads and writes the replica count of any kind that can be scaled, as an autoscaling/v1 Scale. */
export function handleScale(call: ResourceCall, fields: ScaleFields): Promise<ApiResponse> {
  return call.request.info.verb === 'get' ? readScale(call, fields) : writeScale(call, fields);
}

async function readScale(call: ResourceCall, fields: ScaleFields): Promise<ApiResponse> {
  const cached = await call.resource.storage.get(call.namespace, call.name);
  if (cached === undefined) throw StatusError.notFound(groupResource(call), call.name);
  await loadVersions(call.resource, [cached]);
  const { object } = cached.as(call.resource);
  if (fields.replicas(object) === undefined && fields.optional) throw fields.optional.absent();
  return scaleResponse(scaleOf(object, fields));
}

function scaleResponse(scale: Scale): ApiResponse {
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
  const { object } = await updateObject(objectWrite({ ...call, subresource: '' }), {
    options,
    replaces: !isPatch,
    isPartial: true,
    compute: (live) => scaled(call, { live, fields, change }),
  });
  return scaleResponse(scaleOf(object.object, fields));
}

/** Computes the desired scale from the current one, with managedFields. */
type ScaleChange = (current: Scale) => Scale;

async function replacedScale(call: ResourceCall, options: WriteOptions): Promise<ScaleChange> {
  const scale = (await decodeBodyAs(call.request, EXPECTED, options.fieldValidation)) as unknown as Scale;
  checkPlace(call, scale);
  return (current) => owned(call, { current, desired: scale, options });
}

async function patchedScale(call: ResourceCall, options: WriteOptions): Promise<ScaleChange> {
  const type = patchTypeOf(call);
  if (type === PATCH_TYPES.apply) return appliedScale(call, options);
  const readPatch = await patchBody(call, { type, options });
  return (current) => {
    const scale = applyPatchAs<Scale>(call, { expected: EXPECTED, live: current, patch: readPatch(), type, options });
    checkPlace(call, scale);
    return owned(call, { current, desired: scale, options });
  };
}

/** The Scale must name the object in the URL. */
function checkPlace({ resource, name, namespace }: ResourceCall, { metadata }: Scale): void {
  const bodyName = metadata?.name ?? '';
  if (bodyName === '')
    throw StatusError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  checkName(bodyName, name);
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

function owned(call: ResourceCall, { current, desired, options }: { current: Scale; desired: Scale; options: WriteOptions }): Scale {
  return updateManagedFields({
    schema: autoscaling.Scale,
    apiVersion: 'autoscaling/v1',
    live: current,
    updated: desired,
    manager: options.fieldManager,
    subresource: 'scale',
    now: formatTime(call.deps.clock.now()),
    resetFields: [['status']],
  });
}

interface ScaleUpdate {
  readonly live: KubeObject;
  readonly fields: ScaleFields;
  readonly change: ScaleChange;
}

function scaled(call: ResourceCall, { live, fields, change }: ScaleUpdate): KubeObject {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFieldsEntry[];
  const current = currentScale(live, fields);
  const managedNow = scaleManagedFields(entries, fields.paths);
  const managed = { ...current, metadata: { ...current.metadata, ...(managedNow && { managedFields: managedNow }) } } as Scale;
  const desired = change(managed);
  checkName(desired.metadata?.name ?? call.name, call.name);
  const replicas = desired.spec?.replicas ?? 0;
  if (fields.optional && replicas === UNSET) throw fields.optional.unset();
  if (!fields.optional && replicas < 0) throw negative(call.name, replicas);
  const managedFields = managedFieldsAfterScale({
    entries,
    scaleEntries: (desired.metadata?.managedFields ?? []) as readonly ManagedFieldsEntry[],
    apiVersion: call.resource.apiVersion,
    paths: fields.paths,
  });
  const updated = fields.withReplicas(live, replicas);
  const { uid = live.metadata.uid, resourceVersion = '' } = desired.metadata ?? {};
  const { managedFields: _, ...otherMetadata } = updated.metadata;
  return {
    ...updated,
    metadata: { ...otherMetadata, ...(managedFields && { managedFields }), uid, resourceVersion } as KubeObject['metadata'],
  };
}

/** A placeholder for an absent count, so that a patch that sets none is noticed: a patch may refer to it, as upstream. */
const UNSET = -(2 ** 31);

function currentScale(live: KubeObject, fields: ScaleFields): Scale {
  const scale = scaleOf(live, fields);
  return fields.optional && fields.replicas(live) === undefined ? { ...scale, spec: { ...scale.spec, replicas: UNSET } } : scale;
}

function negative(name: string, replicas: number): StatusError {
  const error = FieldError.invalid(Path.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0');
  return StatusError.invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
}
