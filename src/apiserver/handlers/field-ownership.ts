import { formatTime, updateManagedFields, type WrittenFields } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
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
    ...writtenFields(call),
  });
}

/** Which fields a write to this (sub)resource can own. */
export function writtenFields({ resource, subresource }: ResourceCall): WrittenFields {
  const { resetFields, hasStatus } = resource.strategy;
  const common = hasStatus ? COMMON_RESET_FIELDS[subresource] : undefined;
  return { resetFields: resetFields?.[subresource] ?? common };
}

const COMMON_RESET_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = { '': [['status']], status: [['spec']] };
