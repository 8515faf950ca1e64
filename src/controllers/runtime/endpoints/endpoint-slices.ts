import type { discovery } from '#api';
import { isStatusReason } from '#machinery';

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
/** Endpoints with this annotation are leader election locks, without pods. */
export const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';

/** The key of a slice's service, for an index. */
export function sliceService(slice: discovery.EndpointSlice): readonly string[] {
  return slice.metadata.labels?.[SERVICE_NAME] ? [serviceKey(slice)] : [];
}

export function serviceKey({ metadata }: discovery.EndpointSlice): string {
  return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`;
}

/** A slice to create: its name is generated. */
export function draft({ metadata, ...slice }: discovery.EndpointSlice) {
  const { name: _, ...rest } = metadata;
  return { ...slice, metadata: rest };
}

export function ignoreNotFound(error: unknown): void {
  if (!isStatusReason(error, 'NotFound')) throw error;
}
