import { core, storage } from '#api';
import type { InformerFactory } from '#client';

export type Segments = Readonly<Record<string, string>>;

/** The node labels with the driver's topology keys; undefined when it has none. */
export function nodeTopology(nodeName: string | undefined, driverName: string, informers: InformerFactory): Segments | undefined {
  if (nodeName === undefined) return undefined;
  const labels = informers.of(core.Node).lister.get({ name: nodeName })?.metadata.labels ?? {};
  const entries = topologyKeys(nodeName, driverName, informers)?.flatMap((key) =>
    labels[key] === undefined ? [] : [[key, labels[key]] as const],
  );
  return entries === undefined || entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** undefined: there is no CSINode object. */
export function topologyKeys(nodeName: string, driverName: string, informers: InformerFactory): readonly string[] | undefined {
  const csiNode = informers.of(storage.CSINode).lister.get({ name: nodeName });
  return csiNode && topologyKeysOf(csiNode, driverName);
}

export function topologyKeysOf({ spec }: storage.CSINode, driverName: string): readonly string[] {
  return spec?.drivers?.find(({ name }) => name === driverName)?.topologyKeys ?? [];
}
