import { storage } from '#api';
import type { InformerFactory } from '#client';

export type Segments = Readonly<Record<string, string>>;

/** undefined: there is no CSINode object. */
export function topologyKeys(nodeName: string, driverName: string, informers: InformerFactory): readonly string[] | undefined {
  const csiNode = informers.of(storage.CSINode).lister.get({ name: nodeName });
  return csiNode && (topologyKeysOf(csiNode, driverName) ?? []);
}

/** undefined: the node does not have the driver. */
export function topologyKeysOf({ spec }: storage.CSINode, driverName: string): readonly string[] | undefined {
  const entry = spec?.drivers?.find(({ name }) => name === driverName);
  return entry && (entry.topologyKeys ?? []);
}
