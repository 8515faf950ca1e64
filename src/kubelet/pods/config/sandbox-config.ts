import type { core } from '#api';
import { lookupTable } from '#base';
import type { DnsConfig, PortMapping, SandboxConfig, SandboxResources, SandboxSecurityContext, UserNamespace } from '../../cri/runtime.ts';
import { POD_NAME, POD_NAMESPACE, POD_UID } from '../labels.ts';
import { kernelHostname } from './hostname.ts';
import { namespaceOptions } from './namespaces.ts';
import { selinuxOption } from './security-context.ts';

export interface SandboxFacts {
  readonly attempt: number;
  readonly clusterDomain: string;
  readonly logDirectory?: string | undefined;
  readonly dnsConfig?: DnsConfig | undefined;
  readonly cgroupParent?: string | undefined;
  readonly resources?: SandboxResources;
  /** The pod's user namespace; absent: the host's. */
  readonly userns?: UserNamespace | undefined;
}

/** The CRI configuration of a pod's sandbox. Throws when the pod's hostname is invalid. */
export function sandboxConfig(pod: core.Pod, facts: SandboxFacts): SandboxConfig {
  const { metadata, spec } = pod;
  const { name, namespace = '', uid = '', labels = {}, annotations = {} } = metadata;
  const { attempt, logDirectory, dnsConfig, cgroupParent, clusterDomain } = facts;
  const mappings = portMappingsOf(spec);
  const sysctls = sysctlsOf(spec?.securityContext);
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: spec?.hostNetwork === true ? '' : kernelHostname(pod, clusterDomain),
    ...(logDirectory !== undefined && { logDirectory }),
    ...(dnsConfig !== undefined && { dnsConfig }),
    ...(mappings.length > 0 && { portMappings: mappings }),
    labels: { ...labels, [POD_NAME]: name, [POD_NAMESPACE]: namespace, [POD_UID]: uid },
    annotations,
    linux: {
      ...(cgroupParent !== undefined && { cgroupParent }),
      securityContext: securityContextOf(pod, facts.userns),
      ...(sysctls !== undefined && { sysctls }),
      ...facts.resources,
    },
  };
}

function securityContextOf(pod: core.Pod, userns: UserNamespace | undefined): SandboxSecurityContext {
  const { spec } = pod;
  const { runAsUser, runAsGroup, supplementalGroupsPolicy, seLinuxOptions } = spec?.securityContext ?? {};
  // Ephemeral containers count: containerd compares a privileged one with the configuration that comes with it, not with the running sandbox's.
  const privileged = [...containersOf(spec), ...(spec?.ephemeralContainers ?? [])].some(
    ({ securityContext }) => securityContext?.privileged === true,
  );
  const groups = podGroups(pod);
  return {
    namespaceOptions: namespaceOptions(pod, userns),
    seccomp: { profileType: 'runtimeDefault' },
    ...(privileged && { privileged }),
    ...(runAsUser !== undefined && { runAsUser }),
    ...(runAsGroup !== undefined && { runAsGroup }),
    ...(groups.length > 0 && { supplementalGroups: groups }),
    ...(supplementalGroupsPolicy === 'Strict' && { supplementalGroupsPolicy: 'strict' as const }),
    ...(seLinuxOptions && { selinuxOptions: selinuxOption(seLinuxOptions) }),
  };
}

/** The supplemental groups of all containers of the pod. */
export function podGroups({ spec }: core.Pod): readonly number[] {
  const { fsGroup, supplementalGroups = [] } = spec?.securityContext ?? {};
  return [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups];
}

/** Runtimes expect dotted names. */
function sysctlsOf(context: core.PodSecurityContext | undefined): Readonly<Record<string, string>> | undefined {
  const { sysctls = [] } = context ?? {};
  if (sysctls.length === 0) return undefined;
  return Object.fromEntries(sysctls.map(({ name, value }) => [dottedSysctl(name), value]));
}

/** `net/ipv4/conf/eth0.1/rp_filter` and `net.ipv4.conf.eth0/1.rp_filter` are the same: the first separator decides. */
export function dottedSysctl(name: string): string {
  const first = name.search(/[./]/);
  if (first < 0 || name[first] === '.') return name;
  return name.replace(/[./]/g, (separator) => (separator === '.' ? '/' : '.'));
}

const PROTOCOLS = lookupTable<PortMapping['protocol']>({ TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' });

const portMappings = new WeakMap<core.PodSpec, readonly PortMapping[]>();

/** Once a pod: each of its containers is started with the configuration of its sandbox. */
function portMappingsOf(spec: core.PodSpec | undefined): readonly PortMapping[] {
  if (spec === undefined) return [];
  let mappings = portMappings.get(spec);
  if (mappings === undefined) {
    mappings = computePortMappings(spec);
    portMappings.set(spec, mappings);
  }
  return mappings;
}

function computePortMappings(spec: core.PodSpec): readonly PortMapping[] {
  return containersOf(spec).flatMap(({ ports = [] }) =>
    ports.map(({ protocol = 'TCP', containerPort, hostPort = 0, hostIP }) => ({
      ...{ protocol: PROTOCOLS[protocol] ?? 'tcp', containerPort, hostPort },
      ...(hostIP && { hostIp: hostIP }),
    })),
  );
}

function containersOf(spec: core.PodSpec | undefined): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}
