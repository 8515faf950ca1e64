import {
  formatTime,
  type JsonObject,
  type OtherVersion,
  parseGroupVersion,
  updateManagedFields,
  type VersionLookup,
  type WrittenFields,
} from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { ResourceCall } from './resource-call.ts';
import type { WriteOptions } from './write-options.ts';

export interface FieldChange {
  readonly live: KubeObject | undefined;
  readonly updated: KubeObject;
  readonly options: WriteOptions;
}

/** Records in metadata.managedFields who set what (the `Update` half of server-side apply). */
export function ownFields(call: ResourceCall, { live, updated, options }: FieldChange): KubeObject {
  const { resource, subresource, deps } = call;
  return updateManagedFields({
    schema: resource.schema,
    apiVersion: resource.apiVersion,
    live,
    updated,
    manager: options.fieldManager,
    subresource,
    now: formatTime(deps.clock.now()),
    versions: otherVersions(call),
    ...writtenFields(call),
  });
}

/** Other managers may have written in another version: what they own is told apart by that version's schema. */
export function otherVersions({ resource, deps }: ResourceCall): VersionLookup | undefined {
  if (resource.toStored === undefined && deps.table.versions(resource.group).length < 2) return undefined;
  return (apiVersion) => {
    const { group, version } = parseGroupVersion(apiVersion);
    const other = group === resource.group ? deps.table.find(group, version, resource.resource) : undefined;
    return other === undefined || other.storage !== resource.storage ? undefined : conversionBetween(resource, other);
  };
}

function conversionBetween(resource: ServedResource, other: ServedResource): OtherVersion {
  if (resource.custom) return { schema: other.schema, fromCurrent: renamedTo(other), toCurrent: renamedTo(resource) };
  const convert = (from: ServedResource, to: ServedResource) => (object: JsonObject) => {
    const stored = from.toStored?.(object as unknown as KubeObject) ?? (object as unknown as KubeObject);
    return (to.fromStored?.(stored) ?? stored) as unknown as JsonObject;
  };
  return { schema: other.schema, fromCurrent: convert(resource, other), toCurrent: convert(other, resource) };
}

/** Unlike for storage, what the other version does not declare is kept: an object that has such fields is not tracked there. */
function renamedTo({ apiVersion }: ServedResource): (object: JsonObject) => JsonObject {
  return (object) => ({ ...object, apiVersion });
}

/** Which fields a write to this (sub)resource can own. */
export function writtenFields({ resource, subresource }: ResourceCall): WrittenFields {
  const { resetFields, hasStatus } = resource.strategy;
  const common = hasStatus ? COMMON_RESET_FIELDS[subresource] : undefined;
  return { resetFields: resetFields?.[subresource] ?? common };
}

const COMMON_RESET_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = { '': [['status']], status: [['spec']] };
