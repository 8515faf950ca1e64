import { existsSync } from 'node:fs';
import type { core } from '#api';
import type { ContainerSecurityContext, Image, NamespaceOptions, SecurityProfile, SelinuxOption } from '../../cri/runtime.ts';
import { podText } from '../pod-state.ts';
import { StartFailure } from '../start-failure.ts';

export interface SecurityFacts {
  readonly image: Pick<Image, 'uid' | 'username'>;
  readonly namespaceOptions: NamespaceOptions;
  readonly supplementalGroups: readonly number[];
  /** As `--seccomp-default`: containers without a profile use RuntimeDefault. */
  readonly seccompDefault: boolean;
  /** The node's directory of seccomp profiles. */
  readonly seccompDirectory: string;
  /** The node's paths that containers must not see: `maskedPaths()`. */
  readonly maskedPaths: readonly string[];
}

/** A container's effective security context, with values inherited from its pod. Throws a StartFailure when it must not run. */
export function securityContext(pod: core.Pod, container: core.Container, facts: SecurityFacts): ContainerSecurityContext {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  // An image without a user runs as root.
  const ofImage = facts.image.uid ?? (facts.image.username ? undefined : 0);
  const runAsUser = own.runAsUser ?? shared.runAsUser ?? ofImage;
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup;
  checkNonRoot(pod, container, facts.image);
  const { capabilities } = own;
  const selinux = own.seLinuxOptions ?? shared.seLinuxOptions;
  const apparmor = appArmor(own.appArmorProfile ?? shared.appArmorProfile);
  const hidden =
    own.procMount === 'Unmasked'
      ? { maskedPaths: [], readonlyPaths: [] }
      : { maskedPaths: facts.maskedPaths, readonlyPaths: READONLY_PATHS };
  return {
    namespaceOptions: facts.namespaceOptions,
    ...(capabilities && { capabilities: { add: capabilities.add ?? [], drop: capabilities.drop ?? [] } }),
    ...(own.privileged === true && { privileged: true }),
    ...(runAsUser === undefined ? facts.image.username && { runAsUsername: facts.image.username } : { runAsUser }),
    ...(runAsGroup !== undefined && { runAsGroup }),
    ...(own.readOnlyRootFilesystem === true && { readonlyRootfs: true }),
    ...(facts.supplementalGroups.length > 0 && { supplementalGroups: facts.supplementalGroups }),
    ...(shared.supplementalGroupsPolicy === 'Strict' && { supplementalGroupsPolicy: 'strict' as const }),
    ...(own.allowPrivilegeEscalation === false && { noNewPrivs: true }),
    ...hidden,
    seccomp: seccomp(own.seccompProfile ?? shared.seccompProfile, facts),
    ...(apparmor && { apparmor }),
    ...(selinux && { selinuxOptions: selinuxOption(selinux) }),
  };
}

export function selinuxOption({ user, role, type, level }: core.SELinuxOptions): SelinuxOption {
  return { ...(user && { user }), ...(role && { role }), ...(type && { type }), ...(level && { level }) };
}

function checkNonRoot(pod: core.Pod, container: core.Container, { uid, username }: SecurityFacts['image']): void {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  if ((own.runAsNonRoot ?? shared.runAsNonRoot) !== true) return;
  const where = `(pod: ${JSON.stringify(podText(pod))}, container: ${container.name})`;
  const runAsUser = own.runAsUser ?? shared.runAsUser;
  if (runAsUser === 0) throw configError(`container's runAsUser breaks non-root policy ${where}`);
  if (runAsUser !== undefined) return;
  if (uid === 0 || (uid === undefined && !username)) throw configError(`container has runAsNonRoot and image will run as root ${where}`);
  if (uid === undefined)
    throw configError(`container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${where}`);
}

function configError(message: string): StartFailure {
  return new StartFailure('CreateContainerConfigError', message);
}

function seccomp(profile: core.SeccompProfile | undefined, { seccompDefault, seccompDirectory }: SecurityFacts): SecurityProfile {
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { profileType: 'runtimeDefault' };
    case 'Localhost':
      return { profileType: 'localhost', localhostRef: `${seccompDirectory}/${profile.localhostProfile ?? ''}` };
    case 'Unconfined':
      return { profileType: 'unconfined' };
    default:
      return { profileType: seccompDefault ? 'runtimeDefault' : 'unconfined' };
  }
}

function appArmor(profile: core.AppArmorProfile | undefined): SecurityProfile | undefined {
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { profileType: 'runtimeDefault' };
    case 'Localhost':
      return { profileType: 'localhost', localhostRef: profile.localhostProfile ?? '' };
    case 'Unconfined':
      return { profileType: 'unconfined' };
    default:
      return undefined;
  }
}

const MASKED_PATHS: readonly string[] = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];

const READONLY_PATHS: readonly string[] = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** Thermal throttling counters can leak information about other containers. Looks for those of every CPU: once a node is enough, as upstream does. */
export function maskedPaths(): readonly string[] {
  const thermal: string[] = [];
  for (let cpu = 0; existsSync(`/sys/devices/system/cpu/cpu${cpu}`) && cpu < 4096; cpu++) {
    const path = `/sys/devices/system/cpu/cpu${cpu}/thermal_throttle`;
    if (existsSync(path)) thermal.push(path);
  }
  return thermal.length === 0 ? MASKED_PATHS : [...MASKED_PATHS, ...thermal];
}
