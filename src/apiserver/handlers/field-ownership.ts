import { lookupTable, type MaybePromise, runInTurns } from '#base';
import {
  formatTime,
  type JsonObject,
  managedFieldsSteps,
  type OtherVersion,
  parseGroupVersion,
  type VersionLookup,
  type WrittenFields,
} from '#machinery';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { RemoteVersions } from './remote-versions.ts';
import type { ResourceCall } from './resource-call.ts';
import type { WriteOptions } from './write-options.ts';

export interface FieldChange {
  readonly live: KubeObject | undefined;
  readonly updated: KubeObject;
  readonly options: WriteOptions;
}

/** Updates metadata.managedFields for a create or update. */
export function trackFieldOwnership(call: ResourceCall<ServedResource>, { live, updated, options }: FieldChange): MaybePromise<KubeObject> {
  const { resource, subresource, deps } = call;
  const change = {
    schema: resource.schema,
    apiVersion: resource.apiVersion,
    live,
    updated,
    manager: options.fieldManager,
    subresource,
    now: formatTime(deps.clock.now()),
    ...writtenFields(call),
  };
  return acrossVersions(call, (versions) => runInTurns(managedFieldsSteps({ ...change, versions }), deps.clock));
}

/**
 * Other managers may have used another version: their fields are interpreted by that version's schema. `compute` may be called several times
 * where a webhook converts.
 */
export function acrossVersions<T>(
  { resource, deps }: ResourceCall<ServedResource>,
  compute: (versions: VersionLookup | undefined) => MaybePromise<T>,
): MaybePromise<T> {
  const isAlone = resource.toStored === undefined && deps.table.versions(resource.group).length < 2;
  if (isAlone) return compute(undefined);
  const lookupBy = (convert: (resource: ServedResource, other: ServedResource) => OtherVersion) => (apiVersion: string) => {
    const { group, version } = parseGroupVersion(apiVersion);
    const other = group === resource.group ? deps.table.find(group, version, resource.resource) : undefined;
    return other === undefined || other.storage !== resource.storage ? undefined : convert(resource, other);
  };
  if (resource.remote === undefined) return compute(lookupBy(conversionBetween));
  const remote = new RemoteVersions();
  return remote.run(() => compute(lookupBy((from, to) => remote.between(from, to))));
}

function conversionBetween(resource: ServedResource, other: ServedResource): OtherVersion {
  if (resource.custom) return { schema: other.schema, fromCurrent: renamedTo(other), toCurrent: renamedTo(resource) };
  const convert = (from: ServedResource, to: ServedResource) => (object: JsonObject) => {
    const stored = from.toStored?.(object as unknown as KubeObject) ?? (object as unknown as KubeObject);
    return (to.fromStored?.(stored) ?? stored) as unknown as JsonObject;
  };
  return { schema: other.schema, fromCurrent: convert(resource, other), toCurrent: convert(other, resource) };
}

/** Unlike conversion for storage this keeps undeclared fields: objects with such fields are not tracked in that version. */
function renamedTo({ apiVersion }: ServedResource): (object: JsonObject) => JsonObject {
  return (object) => ({ ...object, apiVersion });
}

/** Which fields a write to this (sub)resource can own. */
export function writtenFields({ resource, subresource }: ResourceCall<ServedResource>): WrittenFields {
  const { resetFields, hasStatus } = resource.strategy;
  const common = hasStatus ? COMMON_RESET_FIELDS[subresource] : undefined;
  return { resetFields: resetFields?.[subresource] ?? common };
}

const COMMON_RESET_FIELDS = lookupTable<readonly (readonly string[])[]>({ '': [['status']], status: [['spec']] });
