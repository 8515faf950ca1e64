import { checkUnixId } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { goStruct } from '../../../go-struct.ts';
import { type AppArmorProfile, SeccompProfile, SecurityContext } from '../container/security-context.ts';
import { validateDescendingPath } from '../volume/local-path.validation.ts';
import type { PodSecurityContext, PodSpec, Sysctl } from './pod-spec.ts';
import { validateWindowsOptions } from './windows-options.validation.ts';

const PROC_MOUNTS = ['Default', 'Unmasked'];
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const MAX_APPARMOR_PROFILE_LENGTH = 4095;

export function validateSecurityContext(context: SecurityContext, at: FieldReport, { hostUsers }: { readonly hostUsers: boolean }): void {
  validateIds(context, at);
  if (context.procMount !== undefined) {
    at.child('procMount').oneOf(context.procMount, PROC_MOUNTS);
    if (hostUsers && context.procMount === 'Unmasked') {
      at.child('procMount').invalid(context.procMount, '`hostUsers` must be false to use `Unmasked`');
    }
  }
  if (context.seccompProfile) validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'));
  if (context.allowPrivilegeEscalation === false) validateNoEscalation(context, at);
  if (context.windowsOptions) validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'));
  if (context.appArmorProfile) validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'));
}

function validateIds({ runAsUser, runAsGroup }: { readonly runAsUser?: number; readonly runAsGroup?: number }, at: FieldReport): void {
  if (runAsUser !== undefined) at.child('runAsUser').problems(runAsUser, checkUnixId(runAsUser));
  if (runAsGroup !== undefined) at.child('runAsGroup').problems(runAsGroup, checkUnixId(runAsGroup));
}

function validateNoEscalation(context: SecurityContext, at: FieldReport): void {
  const addError = (detail: string) =>
    at.invalid(goStruct(SecurityContext, context), `cannot set \`allowPrivilegeEscalation\` to false and ${detail}`);
  if (context.privileged) addError('`privileged` to true');
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') addError('`capabilities.Add` CAP_SYS_ADMIN');
  }
}

export function validateSeccompProfile(profile: SeccompProfile, at: FieldReport): void {
  const { type, localhostProfile } = profile;
  if (!type) at.child('type').required('type is required when seccompProfile is set');
  else at.child('type').oneOf(type, PROFILE_TYPES);
  const field = at.child('localhostProfile');
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      field.invalid(goStruct(SeccompProfile, profile), 'can only be set when seccomp type is Localhost');
    }
  } else if (localhostProfile === undefined) field.required('must be set when seccomp type is Localhost');
  else validateDescendingPath(localhostProfile, field);
}

export function validateAppArmorProfile({ type, localhostProfile }: AppArmorProfile, at: FieldReport): void {
  switch (type) {
    case 'Localhost':
      validateAppArmorLocalhost(localhostProfile, at.child('localhostProfile'));
      break;
    case 'RuntimeDefault':
    case 'Unconfined':
      if (localhostProfile !== undefined) {
        at.child('localhostProfile').invalid(localhostProfile, 'can only be set when AppArmor type is Localhost');
      }
      break;
    default:
      if (!type) at.child('type').required('type is required when appArmorProfile is set');
      else at.child('type').notSupported(type, PROFILE_TYPES);
  }
}

function validateAppArmorLocalhost(profile: string | undefined, at: FieldReport): void {
  const missing = 'must be set when AppArmor type is Localhost';
  if (profile === undefined) {
    at.required(missing);
    return;
  }
  if (profile.trim() !== profile) at.invalid(profile, 'must not be padded with whitespace');
  else if (profile === '') at.required(missing);
  if (Buffer.byteLength(profile) > MAX_APPARMOR_PROFILE_LENGTH) at.tooLong(MAX_APPARMOR_PROFILE_LENGTH);
}

export function validatePodSecurityContext(context: PodSecurityContext, at: FieldReport, spec: PodSpec): void {
  const { fsGroup, supplementalGroups = [], sysctls = [] } = context;
  if (fsGroup !== undefined) at.child('fsGroup').problems(fsGroup, checkUnixId(fsGroup));
  validateIds(context, at);
  supplementalGroups.forEach((group, i) => {
    at.child('supplementalGroups').index(i).problems(group, checkUnixId(group));
  });
  if (spec.shareProcessNamespace && spec.hostPID) {
    at.child('shareProcessNamespace').invalid(true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  validateSysctls(sysctls, at.child('sysctls'), spec);
  validatePodProfiles(context, at);
}

function validatePodProfiles(context: PodSecurityContext, at: FieldReport): void {
  const { fsGroupChangePolicy, seccompProfile, windowsOptions, appArmorProfile } = context;
  if (fsGroupChangePolicy !== undefined) at.child('fsGroupChangePolicy').oneOf(fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  if (seccompProfile) validateSeccompProfile(seccompProfile, at.child('seccompProfile'));
  if (windowsOptions) validateWindowsOptions(windowsOptions, at.child('windowsOptions'));
  if (appArmorProfile) validateAppArmorProfile(appArmorProfile, at.child('appArmorProfile'));
  const { supplementalGroupsPolicy, seLinuxChangePolicy } = context;
  if (supplementalGroupsPolicy !== undefined) at.child('supplementalGroupsPolicy').oneOf(supplementalGroupsPolicy, ['Merge', 'Strict']);
  if (seLinuxChangePolicy !== undefined) at.child('seLinuxChangePolicy').oneOf(seLinuxChangePolicy, ['Recursive']);
}

const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_PATTERN = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
// bounded: at most SYSCTL_MAX_LENGTH characters are matched.
const SYSCTL = new RegExp(SYSCTL_PATTERN);
const SYSCTL_MAX_LENGTH = 253;

function validateSysctls(sysctls: readonly Sysctl[], at: FieldReport, spec: PodSpec): void {
  const names = new Set<string>();
  sysctls.forEach(({ name }, i) => {
    const field = at.index(i).child('name');
    if (!name) field.required();
    else if (name.length > SYSCTL_MAX_LENGTH || !SYSCTL.test(name)) {
      field.invalid(name, `must have at most ${SYSCTL_MAX_LENGTH} characters and match regex ${SYSCTL_PATTERN}`);
    } else if (names.has(name)) field.duplicate(name);
    validateHostSysctl(name, field, spec);
    names.add(name);
  });
}

function validateHostSysctl(name = '', at: FieldReport, { hostNetwork, hostIPC }: PodSpec): void {
  if (!hostNetwork && !hostIPC) return;
  const namespace = sysctlNamespace(name);
  if (hostNetwork && namespace === 'Net') at.invalid(name, "may not be specified when 'hostNetwork' is true");
  else if (hostIPC && namespace === 'IPC') at.invalid(name, "may not be specified when 'hostIPC' is true");
}

const IPC_SYSCTL = /^kernel\.(?:sem|shmall|shmmax|shmmni|shm_rmid_forced|shm|msgmax|msgmnb|msgmni|msg)$/;

/** The kernel namespace of a sysctl. Slashes and dots are equivalent. */
function sysctlNamespace(sysctl: string): 'IPC' | 'Net' | undefined {
  const name = dotted(sysctl).split('*', 1)[0] ?? '';
  if (IPC_SYSCTL.test(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
}

// If the first separator is a slash, slashes separate and dots belong to names.
function dotted(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== '/') return name;
  return name.replace(/[./]/g, (char) => (char === '/' ? '.' : '/'));
}
