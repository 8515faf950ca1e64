import type { PluginFactory } from '../framework/plugin.ts';
import { defaultBinder } from './default-binder/default-binder.ts';
import { defaultPreemption } from './default-preemption/default-preemption.ts';
import { dynamicResources } from './dynamic-resources/dynamic-resources.ts';
import { imageLocality } from './image-locality/image-locality.ts';
import { interPodAffinity } from './inter-pod-affinity/inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity/node-affinity.ts';
import { nodeDeclaredFeatures } from './node-declared-features/node-declared-features.ts';
import { nodeName } from './node-name/node-name.ts';
import { nodePorts } from './node-ports/node-ports.ts';
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation/node-resources-balanced-allocation.ts';
import { nodeResourcesFit } from './node-resources-fit/node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable/node-unschedulable.ts';
import { nodeVolumeLimits } from './node-volume-limits/node-volume-limits.ts';
import { podTopologySpread } from './pod-topology-spread/pod-topology-spread.ts';
import { prioritySort } from './priority-sort/priority-sort.ts';
import { schedulingGates } from './scheduling-gates/scheduling-gates.ts';
import { taintToleration } from './taint-toleration/taint-toleration.ts';

import { volumeBinding } from './volume-binding/volume-binding.ts';
import { volumeRestrictions } from './volume-restrictions/volume-restrictions.ts';
import { volumeZone } from './volume-zone/volume-zone.ts';

export interface RegisteredPlugin {
  readonly name: string;
  /** The score weight in the default profile. */
  readonly weight: number;
  readonly make: PluginFactory;
}

/** All plugins, in the order of the default profile. */
export const PLUGINS: readonly RegisteredPlugin[] = [
  { name: 'SchedulingGates', weight: 0, make: schedulingGates },
  { name: 'PrioritySort', weight: 0, make: prioritySort },
  { name: 'NodeUnschedulable', weight: 0, make: nodeUnschedulable },
  { name: 'NodeName', weight: 0, make: nodeName },
  { name: 'TaintToleration', weight: 3, make: taintToleration },
  { name: 'NodeAffinity', weight: 2, make: nodeAffinity },
  { name: 'NodePorts', weight: 0, make: nodePorts },
  { name: 'NodeResourcesFit', weight: 1, make: nodeResourcesFit },
  { name: 'VolumeRestrictions', weight: 0, make: volumeRestrictions },
  { name: 'NodeVolumeLimits', weight: 0, make: nodeVolumeLimits },
  { name: 'VolumeBinding', weight: 0, make: volumeBinding },
  { name: 'VolumeZone', weight: 0, make: volumeZone },
  { name: 'PodTopologySpread', weight: 2, make: podTopologySpread },
  { name: 'InterPodAffinity', weight: 2, make: interPodAffinity },
  { name: 'DynamicResources', weight: 2, make: dynamicResources },
  { name: 'DefaultPreemption', weight: 0, make: defaultPreemption },
  { name: 'NodeResourcesBalancedAllocation', weight: 1, make: nodeResourcesBalancedAllocation },
  { name: 'ImageLocality', weight: 1, make: imageLocality },
  { name: 'DefaultBinder', weight: 0, make: defaultBinder },
  { name: 'NodeDeclaredFeatures', weight: 0, make: nodeDeclaredFeatures },
];
