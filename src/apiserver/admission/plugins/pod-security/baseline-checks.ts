import type { core } from '#api';
import {
  containersOf,
  containersText,
  exemptWhen,
  hasUserNamespace,
  namesOf,
  type PodCheck,
  plural,
  quoted,
  type SecurityCheck,
  settersText,
  sortedSet,
} from './pod-check.ts';

const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

function isRuntimeOrLocal(type: string | undefined): boolean {
  return type === 'RuntimeDefault' || type === 'Localhost';
}

const appArmorProfile: PodCheck = (pod) => {
  const { annotations, spec } = pod;
  const isBad = (profile: { type?: string } | undefined) => profile !== undefined && !isRuntimeOrLocal(profile.type);
  const podProfile = spec.securityContext?.appArmorProfile;
  const bad = containersOf(pod).filter(({ securityContext }) => isBad(securityContext?.appArmorProfile));
  const noted = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(APPARMOR_PREFIX) && !/^$|^runtime\/default$|^localhost\//.test(value))
    .map(([key, value]) => `${key}="${value}"`)
    .toSorted();
  const types = [
    ...(isBad(podProfile) ? [podProfile!.type!] : []),
    ...bad.map(({ securityContext }) => securityContext!.appArmorProfile!.type!),
  ];
  const values = [...sortedSet(types), ...noted];
  if (values.length === 0) return undefined;
  const bySpec = settersText(
    isBad(podProfile),
    bad.map(({ name }) => name),
  );
  const setters = [bySpec, noted.length > 0 ? plural(noted, 'annotation') : ''].filter((text) => text !== '').join(' and ');
  return {
    reason: plural(values, 'forbidden AppArmor profile'),
    detail: `${setters} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const capabilities: PodCheck = (pod) => {
  const extra = ({ securityContext }: core.Container) =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !DEFAULT_CAPABILITIES.has(name));
  const bad = containersOf(pod).filter((container) => extra(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = containersText(bad.map(({ name }) => name));
  const detail = `${names} must not include ${quoted(sortedSet(bad.flatMap(extra)))} in securityContext.capabilities.add`;
  return { reason: 'non-default capabilities', detail };
};

const hostNamespaces: PodCheck = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name]);
  return used.length > 0 ? { reason: 'host namespaces', detail: used.map((name) => `${name}=true`).join(', ') } : undefined;
};

const hostPathVolumes: PodCheck = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  return names.length > 0 ? { reason: 'hostPath volumes', detail: `${plural(names, 'volume')} ${quoted(names)}` } : undefined;
};

const hostPorts: PodCheck = (pod) => {
  const portsOf = ({ ports }: core.Container) => (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));
  const bad = containersOf(pod).filter((container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const ports = sortedSet(bad.flatMap(portsOf));
  const detail = `${containersText(names)} ${plural(names, 'uses', 'use')} ${plural(ports, 'hostPort')} ${ports.join(', ')}`;
  return { reason: 'hostPort', detail };
};

const hostProbes: PodCheck = (pod) => {
  const bad = containersOf(pod).filter((container) => handlerHosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = sortedSet(bad.map(({ name }) => name));
  const hosts = sortedSet(bad.flatMap(handlerHosts));
  const noun = plural(hosts, 'probe or lifecycle host');
  return { reason: 'probe or lifecycle host', detail: `${containersText(names)} ${plural(names, 'uses', 'use')} ${noun} ${quoted(hosts)}` };
};

function handlerHosts({ livenessProbe, readinessProbe, startupProbe, lifecycle }: core.Container): readonly string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers.flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host]).filter((host): host is string => Boolean(host));
}

const privileged: PodCheck = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (names.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containersText(names)} must not set securityContext.privileged=true` };
};

export const procMount: PodCheck = (pod) => {
  const mountOf = ({ securityContext }: core.Container) => securityContext?.procMount ?? 'Default';
  const bad = containersOf(pod).filter((container) => mountOf(container) !== 'Default');
  if (bad.length === 0) return undefined;
  const names = containersText(bad.map(({ name }) => name));
  return { reason: 'procMount', detail: `${names} must not set securityContext.procMount to ${quoted(sortedSet(bad.map(mountOf)))}` };
};

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

function seLinuxOptions(types: readonly string[]): PodCheck {
  return (pod) => {
    type Options = NonNullable<NonNullable<core.Container['securityContext']>['seLinuxOptions']>;
    const isBad = (options: Options | undefined): options is Options =>
      options !== undefined && (!types.includes(options.type ?? '') || Boolean(options.user) || Boolean(options.role));
    const ofPod = pod.spec.securityContext?.seLinuxOptions;
    const containers = containersOf(pod).filter(({ securityContext }) => isBad(securityContext?.seLinuxOptions));
    const all = [ofPod, ...containers.map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(isBad);
    if (all.length === 0) return undefined;
    const badTypes = sortedSet(all.map(({ type = '' }) => type).filter((type) => !types.includes(type)));
    const problems = [
      ...(badTypes.length > 0 ? [`${plural(badTypes, 'type')} ${quoted(badTypes)}`] : []),
      ...(all.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    const setters = settersText(
      isBad(ofPod),
      containers.map(({ name }) => name),
    );
    return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${problems.join('; ')}` };
  };
}

/** Deprecated seccomp annotations. */
const seccompAnnotations: PodCheck = (pod) => {
  const keys = [SECCOMP_POD, ...containersOf(pod).map(({ name }) => SECCOMP_PREFIX + name)];
  const forbidden = sortedSet(
    keys.flatMap((key) => {
      const value = pod.annotations[key];
      return value === undefined || /^(runtime|docker)\/default$|^localhost\//.test(value) ? [] : [`${key}="${value}"`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural(forbidden, 'annotation')} ${forbidden.join(', ')}` };
};

/** Seccomp profiles that are set to a forbidden value. */
export const seccompProfile: PodCheck = (pod) => {
  const ofPod = pod.spec.securityContext?.seccompProfile;
  const isBad = (profile: { type?: string } | undefined) => profile !== undefined && !isRuntimeOrLocal(profile.type);
  const containers = containersOf(pod).filter(({ securityContext }) => isBad(securityContext?.seccompProfile));
  const types = [
    ...(isBad(ofPod) ? [ofPod!.type!] : []),
    ...containers.map(({ securityContext }) => securityContext!.seccompProfile!.type!),
  ];
  if (types.length === 0) return undefined;
  const setters = settersText(
    isBad(ofPod),
    containers.map(({ name }) => name),
  );
  return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(types))}` };
};

const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

function sysctls(allowed: readonly string[]): PodCheck {
  return ({ spec }) => {
    const forbidden = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name));
    return forbidden.length > 0 ? { reason: 'forbidden sysctls', detail: forbidden.join(', ') } : undefined;
  };
}

const windowsHostProcess: PodCheck = (pod) => {
  const isHost = (context: { windowsOptions?: { hostProcess?: boolean } } | undefined) => context?.windowsOptions?.hostProcess === true;
  const names = namesOf(pod, ({ securityContext }) => isHost(securityContext));
  const setters = settersText(isHost(pod.spec.securityContext), names);
  if (setters === '') return undefined;
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
};

const always = (check: PodCheck) => [{ since: 0, check }];

/** The checks of level `baseline`, in the order in which violations are reported. */
export const BASELINE_CHECKS: readonly SecurityCheck[] = [
  { id: 'appArmorProfile', versions: always(appArmorProfile) },
  { id: 'capabilities_baseline', versions: always(capabilities) },
  { id: 'hostNamespaces', versions: always(hostNamespaces) },
  { id: 'hostPathVolumes', versions: always(hostPathVolumes) },
  { id: 'hostPorts', versions: always(hostPorts) },
  { id: 'hostProbesAndHostLifecycle', versions: [{ since: 34, check: hostProbes }] },
  { id: 'privileged', versions: always(privileged) },
  { id: 'procMount', versions: [...always(procMount), { since: 35, check: exemptWhen(hasUserNamespace, procMount) }] },
  {
    id: 'seLinuxOptions',
    versions: [...always(seLinuxOptions(SELINUX_TYPES)), { since: 31, check: seLinuxOptions([...SELINUX_TYPES, 'container_engine_t']) }],
  },
  { id: 'seccompProfile_baseline', versions: [...always(seccompAnnotations), { since: 19, check: seccompProfile }] },
  {
    id: 'sysctls',
    versions: [
      ...always(sysctls(SYSCTLS)),
      { since: 27, check: sysctls(SYSCTLS_27) },
      { since: 29, check: sysctls(SYSCTLS_29) },
      { since: 32, check: sysctls(SYSCTLS_32) },
    ],
  },
  { id: 'windowsHostProcess', versions: always(windowsHostProcess) },
];
