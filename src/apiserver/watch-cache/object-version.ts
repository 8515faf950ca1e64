import type { KubeObject } from './kube-object.ts';

/** One API version of a resource, and how stored objects are converted to it. */
export interface ObjectVersion {
  readonly apiVersion: string;
  /** Converts from the stored version; absent when there is only one. */
  readonly fromStored?: (object: KubeObject) => KubeObject;
  /** Instead of `fromStored`, for conversion by a webhook. */
  readonly remote?: RemoteConversion;
}

/** Conversion by a webhook, which may fail. */
export interface RemoteConversion {
  /** Converts stored objects in any version to the served one. */
  fromStored(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>;
  toStored(object: KubeObject): Promise<KubeObject>;
}
