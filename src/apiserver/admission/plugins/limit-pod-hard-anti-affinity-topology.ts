import type { core } from '#api';
import { StatusError } from '#machinery';
import type { AdmissionPlugin } from '../admission.ts';
import { isAboutPods } from './plugin-deps.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** Required anti-affinity may only keep pods apart by node: by zone, one pod could keep all others out of it. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  validate: (attributes) => {
    if (!isAboutPods(attributes)) return;
    const { metadata, spec } = attributes.object as core.Pod;
    const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wide = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wide === undefined) return;
    const detail = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${HOSTNAME} is allowed`;
    throw StatusError.forbidden({ group: '', resource: 'pods' }, metadata.name ?? '', detail);
  },
};
