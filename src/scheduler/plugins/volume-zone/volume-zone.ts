import type { core } from '#api';
import { lookupTable, pushAll } from '#base';
import type { Labels } from '#machinery';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects, Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP, unresolvable } from '../../framework/status.ts';
import { claimsOf, waitsForConsumer } from '../../framework/volume-claims.ts';

const NAME = 'VolumeZone';
const OTHER_ZONE = unresolvable(NAME, 'node(s) had no available volume zone');
/** Each deprecated label with its replacement. */
const TOPOLOGY_LABELS = lookupTable<string>({
  'topology.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
});

interface ZonedVolumes {
  readonly demands: readonly { readonly key: string; readonly values: ReadonlySet<string> }[];
}

/** Volumes that are labelled with zones can be used in those only. */
export const volumeZone: PluginFactory = (_, { objects }): Plugin => ({
  name: NAME,
  events: [
    { resource: 'StorageClass', actions: ['Add'] },
    { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
    { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'] },
    { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
  ],
  preFilter(state, pod) {
    if (pod.claims.length === 0) return { status: SKIP };
    const demands = demandsOf(pod, objects);
    if (typeof demands === 'string') return { status: unresolvable(NAME, demands) };
    if (demands.length === 0) return { status: SKIP };
    state.write(NAME, { demands } satisfies ZonedVolumes);
    return undefined;
  },
  filter: (state, __, node) => (satisfies(node, state.read<ZonedVolumes>(NAME)?.demands ?? []) ? undefined : OTHER_ZONE),
});

function demandsOf(pod: PodInfo, objects: ClusterObjects): ZonedVolumes['demands'] | string {
  const claims = claimsOf(pod, objects);
  if (typeof claims === 'string') return claims;
  const demands: { key: string; values: ReadonlySet<string> }[] = [];
  for (const claim of claims) {
    const name = claim.spec?.volumeName ?? '';
    if (name === '') {
      if (waitsForConsumer(claim, objects)) continue;
      return 'PersistentVolumeClaim had no pv name and storageClass name';
    }
    const volume = objects.volumes.get({ name });
    if (volume === undefined) return `persistentvolume "${name}" not found`;
    pushAll(demands, zonesOf(volume));
  }
  return demands;
}

function zonesOf({ metadata }: core.PersistentVolume): { key: string; values: ReadonlySet<string> }[] {
  const labels = (metadata.labels ?? {}) as Labels;
  return Object.keys(TOPOLOGY_LABELS)
    .filter((key) => labels[key] !== undefined)
    .map((key) => ({ key, values: new Set((labels[key] as string).split('__')) }));
}

/** A node without zone labels: a cluster without zones. */
function satisfies({ labels }: NodeInfo, demands: ZonedVolumes['demands']): boolean {
  if (!Object.keys(TOPOLOGY_LABELS).some((key) => labels[key] !== undefined)) return true;
  return demands.every(({ key, values }) => {
    const value = labels[key] ?? labels[TOPOLOGY_LABELS[key] as string];
    return value !== undefined && values.has(value);
  });
}
