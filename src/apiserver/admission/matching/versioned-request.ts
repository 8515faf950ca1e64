import { isPromise, mapMaybePromise } from '#base';
import { apiVersionOf, type GroupVersionKind } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { isOwnKind } from './admission-kind.ts';
import type { RequestMatch } from './request-matcher.ts';

/** A request with its objects in the version in which it matched. */
export interface VersionedRequest {
  readonly attributes: AdmissionAttributes;
  readonly match: RequestMatch;
  /** With kind and apiVersion; null where there is none. */
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
}

/** Synchronous unless a conversion webhook must be called. */
export function versionedRequest(attributes: AdmissionAttributes, match: RequestMatch): VersionedRequest | Promise<VersionedRequest> {
  const { resource, subresource, operation } = attributes;
  const convert = (value: unknown): KubeObject | null | Promise<KubeObject> => {
    if (value === undefined || value === null) return null;
    // Connect options carry their own kind and apiVersion.
    if (operation === 'CONNECT') return value as KubeObject;
    const converted = convertObject(value as KubeObject, { from: resource, to: match.resource, subresource });
    return mapMaybePromise(converted, (object) => withKind(object, match.kind));
  };
  const object = convert(attributes.object);
  const oldObject = convert(attributes.oldObject);
  if (isPromise(object) || isPromise(oldObject)) return settled({ attributes, match }, object, oldObject);
  return { attributes, match, object, oldObject };
}

type MaybeConverted = KubeObject | null | Promise<KubeObject>;

async function settled(
  request: Pick<VersionedRequest, 'attributes' | 'match'>,
  object: MaybeConverted,
  oldObject: MaybeConverted,
): Promise<VersionedRequest> {
  return { ...request, object: await object, oldObject: await oldObject };
}

interface Conversion {
  readonly from: ServedResource;
  readonly to: ServedResource;
  readonly subresource: string;
}

/** An object converted to another version of its resource. */
export function convertObject(object: KubeObject, { from, to, subresource }: Conversion): KubeObject | Promise<KubeObject> {
  if (from.group === to.group && from.version === to.version) return object;
  if (!isOwnKind(from, subresource)) return object;
  if (to.remote !== undefined) return to.remote.fromStored([object]).then(([converted]) => converted!);
  const stored = from.toStored?.(object) ?? object;
  return to.fromStored?.(stored) ?? stored;
}

function withKind(object: KubeObject, kind: GroupVersionKind): KubeObject {
  const apiVersion = apiVersionOf(kind);
  if (object.apiVersion === apiVersion && object.kind === kind.kind) return object;
  return { ...object, apiVersion, kind: kind.kind };
}
