import { core, storage } from '#api';
import type { InformerFactory } from '#client';

/** The node labels with the driver's topology keys; undefined when it has none. */
export function nodeTopology(
  nodeName: string | undefined,
  driverName: string,
  informers: InformerFactory,
): Readonly<Record<string, string>> | undefined {
  if (nodeName === undefined) return undefined;
  const drivers = informers.of(storage.CSINode).lister.get({ name: nodeName })?.spec?.drivers ?? [];
  const keys = drivers.find(({ name }) => name === driverName)?.topologyKeys ?? [];
  const labels = informers.of(core.Node).lister.get({ name: nodeName })?.metadata.labels ?? {};
  const entries = keys.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]] as const]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
