import { MetricsRegistry } from '#base';
import type { MachineTopology } from '../resources/machine-topology.ts';
import { CONTAINER_FAMILIES } from './container-families.ts';
import type { ContainerSample } from './container-sample.ts';

export interface MachineSample {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly topology: MachineTopology;
}

const SAMPLE_LABELS = ['container', 'id', 'image', 'name', 'namespace', 'pod'] as const;
const MACHINE_LABELS = ['machine_id', 'system_uuid', 'boot_id'] as const;

/** The body of `/metrics/cadvisor`. */
export function cadvisorText(machine: MachineSample | undefined, samples: readonly ContainerSample[]): string {
  const registry = new MetricsRegistry();
  for (const { name, help, type, labels = [], points } of CONTAINER_FAMILIES) {
    const options = { name, help, labels: [...SAMPLE_LABELS, ...labels] as string[] };
    const family = type === 'counter' ? registry.counter(options) : registry.gauge(options);
    for (const sample of samples) {
      for (const point of points(sample)) family.with({ ...sample.labels, ...point.labels }).inc(point.value);
    }
  }
  if (machine !== undefined) addMachine(registry, machine);
  registry.gauge({ name: 'container_scrape_error', help: '1 if there was an error while getting container metrics, 0 otherwise' }).with({});
  return registry.text();
}

function addMachine(registry: MetricsRegistry, machine: MachineSample): void {
  const of = { machine_id: machine.machineId, system_uuid: machine.systemUuid, boot_id: machine.bootId };
  const { cpus, numaNodes } = machine.topology;
  const figures = [
    ['machine_cpu_cores', 'Number of logical CPU cores.', cpus.length],
    ['machine_cpu_physical_cores', 'Number of physical CPU cores.', new Set(cpus.map(({ core }) => core)).size],
    ['machine_cpu_sockets', 'Number of CPU sockets.', new Set(cpus.map(({ socket }) => socket)).size],
    ['machine_memory_bytes', 'Amount of memory installed on the machine.', machine.memoryBytes],
    ['machine_swap_bytes', 'Amount of swap memory available on the machine.', machine.swapBytes],
  ] as const;
  for (const [name, help, value] of figures) registry.gauge({ name, help, labels: MACHINE_LABELS }).with(of).set(value);
  const nodes = registry.gauge({
    name: 'machine_node_memory_capacity_bytes',
    help: 'Amount of memory assigned to NUMA node.',
    labels: [...MACHINE_LABELS, 'node_id'],
  });
  for (const { id, memoryBytes } of numaNodes) nodes.with({ ...of, node_id: id }).set(memoryBytes);
  registry.gauge({ name: 'machine_scrape_error', help: '1 if there was an error while getting machine metrics, 0 otherwise.' }).with({});
  registry
    .gauge({
      name: 'cadvisor_version_info',
      help: "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.",
      labels: ['kernelVersion', 'osVersion', 'dockerVersion', 'cadvisorVersion', 'cadvisorRevision'],
    })
    .with({
      kernelVersion: machine.kernelVersion,
      osVersion: machine.osImage,
      dockerVersion: '',
      cadvisorVersion: '',
      cadvisorRevision: '',
    })
    .set(1);
}
