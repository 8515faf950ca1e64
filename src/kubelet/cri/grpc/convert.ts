/** Conversions from CRI messages to the types of `runtime.ts`, where they differ. */
import type { MessageOf } from '#base';
import type {
  ContainerResources,
  ContainerStats,
  ContainerStatus,
  FilesystemUsage,
  NamespaceOptions,
  SandboxMetrics,
  SandboxStats,
  SandboxStatus,
} from '../runtime.ts';
import type { ContainerStatusResponse } from './messages/container.ts';
import type { FilesystemUsage as FilesystemUsageMessage } from './messages/image.ts';
import type { NamespaceOptions as NamespaceOptionsMessage, PodSandboxStatusResponse } from './messages/sandbox.ts';
import type { ContainerStatsResponse, ListPodSandboxMetricsResponse, PodSandboxStatsResponse } from './messages/stats.ts';

type SandboxStatusMessage = NonNullable<MessageOf<typeof PodSandboxStatusResponse>['status']>;
type ContainerStatusMessage = NonNullable<MessageOf<typeof ContainerStatusResponse>['status']>;
type ContainerStatsMessage = NonNullable<MessageOf<typeof ContainerStatsResponse>['stats']>;
type SandboxStatsMessage = NonNullable<MessageOf<typeof PodSandboxStatsResponse>['stats']>;
type SandboxMetricsMessage = MessageOf<typeof ListPodSandboxMetricsResponse>['podMetrics'][number];

export function toSandboxStatus({ network, linux, ...status }: SandboxStatusMessage): SandboxStatus {
  const ips = [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== '');
  const options = linux?.namespaces?.options;
  return { ...status, ips, ...(options && { namespaceOptions: toNamespaceOptions(options) }) };
}

function toNamespaceOptions({ userns, ...options }: MessageOf<typeof NamespaceOptionsMessage>): NamespaceOptions {
  return { ...options, ...(userns && { userns: { ...userns, mode: userns.mode === 'node' ? 'node' : 'pod' } }) };
}

export function toContainerStatus({ resources, user, ...status }: ContainerStatusMessage): ContainerStatus {
  return {
    ...status,
    ...(resources?.linux && { resources: withoutDefaults(resources.linux) }),
    ...(user?.linux && { user: user.linux }),
  };
}

/** On the wire, 0 means that there is no limit. */
function withoutDefaults(resources: ContainerResources): ContainerResources {
  const isSet = (value: unknown) =>
    value !== 0 && value !== '' && !(Array.isArray(value) && value.length === 0) && !(isObject(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(resources).filter(([, value]) => isSet(value)));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function toFilesystemUsage({ filesystem, ...usage }: MessageOf<typeof FilesystemUsageMessage>): FilesystemUsage {
  return { ...usage, mountpoint: filesystem.mountpoint };
}

export function toContainerStats({ writableLayer, ...stats }: ContainerStatsMessage): ContainerStats {
  return { ...stats, ...(writableLayer && { writableLayer: toFilesystemUsage(writableLayer) }) };
}

export function toSandboxStats({ attributes, linux }: SandboxStatsMessage): SandboxStats {
  const { process, containers, ...usage } = linux;
  const { processCount } = process ?? {};
  return { attributes, ...usage, containers: containers.map(toContainerStats), ...(processCount !== undefined && { processCount }) };
}

export function toSandboxMetrics({ sandboxId, metrics, containerMetrics }: SandboxMetricsMessage): SandboxMetrics {
  const flat = (list: typeof metrics) => list.map(({ value, ...metric }) => ({ ...metric, value: value.value }));
  return {
    sandboxId,
    metrics: flat(metrics),
    containerMetrics: containerMetrics.map((container) => ({ containerId: container.containerId, metrics: flat(container.metrics) })),
  };
}
