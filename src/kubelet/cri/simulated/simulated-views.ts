import type { ContainerFilter, ContainerStats, RuntimeStatus, SandboxFilter, SandboxStats } from '../runtime.ts';
import type { SimulatedContainer } from './simulated-container.ts';
import type { SimulatedSandbox } from './simulated-sandbox.ts';

export const SIMULATED_STATUS: RuntimeStatus = {
  conditions: [
    { type: 'RuntimeReady', status: true, reason: '', message: '' },
    { type: 'NetworkReady', status: true, reason: '', message: '' },
  ],
  handlers: [{ name: '', recursiveReadOnlyMounts: false, userNamespaces: false }],
  features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false, mountOptions: false },
};

interface ListItem {
  readonly id: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function matchesFilter(listed: ListItem, { id, state, labelSelector = {} }: SandboxFilter | ContainerFilter): boolean {
  if ((id !== undefined && id !== listed.id) || (state !== undefined && state !== listed.state)) return false;
  for (const key in labelSelector) if (listed.labels[key] !== labelSelector[key]) return false;
  return true;
}

/** All zero: there are no processes. */
export function containerStats({ options }: SimulatedContainer, timestampMs: number): ContainerStats {
  const { metadata, labels, annotations } = options.config;
  const cpu = { timestampMs, usageCoreNanoSeconds: 0, usageNanoCores: 0 };
  return { attributes: { id: options.id, metadata, labels, annotations }, cpu, memory: { timestampMs, workingSetBytes: 0 } };
}

export function sandboxStats(
  { id, config }: SimulatedSandbox,
  containers: readonly SimulatedContainer[],
  timestampMs: number,
): SandboxStats {
  const { metadata, labels, annotations } = config;
  const usage = { cpu: { timestampMs, usageCoreNanoSeconds: 0, usageNanoCores: 0 }, memory: { timestampMs, workingSetBytes: 0 } };
  const stats = containers.map((container) => containerStats(container, timestampMs));
  return { attributes: { id, metadata, labels, annotations }, ...usage, processCount: 0, containers: stats };
}
