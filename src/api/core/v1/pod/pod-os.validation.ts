import type { FieldReport } from '../../../field-report.ts';
import type { SecurityContext } from '../container/security-context.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ContainerVisitor } from './windows-options.validation.ts';

const SYSTEMS = ['linux', 'windows'];
const NOT_ON_WINDOWS = 'cannot be set for a windows pod';

/** Fields that the pod's operating system does not support. */
export function validatePodOS(spec: PodSpec, at: FieldReport, visit: (each: ContainerVisitor) => void): void {
  const name = spec.os?.name;
  if (!name) at.child('os').child('name').required();
  else if (!SYSTEMS.includes(name)) at.child('os').notSupported(name, SYSTEMS);
  else if (name === 'linux') validateLinux(spec, at, visit);
  else validateWindows(spec, at, visit);
}

function validateLinux(spec: PodSpec, at: FieldReport, visit: (each: ContainerVisitor) => void): void {
  const addError = (field: FieldReport) =>
    field.child('securityContext').child('windowsOptions').forbidden('windows options cannot be set for a linux pod');
  if (spec.securityContext?.windowsOptions) addError(at);
  visit((container, field) => {
    if (container.securityContext?.windowsOptions) addError(field());
  });
}

// In upstream's order; some Linux-only fields are outside the security context.
const POD_FIELDS = [
  ['securityContext', 'appArmorProfile'],
  ['securityContext', 'seLinuxOptions'],
  ['spec', 'hostUsers'],
  ['spec', 'hostPID'],
  ['spec', 'hostIPC'],
  ['securityContext', 'seccompProfile'],
  ['securityContext', 'fsGroup'],
  ['securityContext', 'fsGroupChangePolicy'],
  ['securityContext', 'sysctls'],
  ['spec', 'shareProcessNamespace'],
  ['securityContext', 'runAsUser'],
  ['securityContext', 'runAsGroup'],
  ['securityContext', 'supplementalGroups'],
  ['securityContext', 'supplementalGroupsPolicy'],
  ['securityContext', 'seLinuxChangePolicy'],
] as const;

const CONTAINER_FIELDS: readonly (keyof SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function validateWindows(spec: PodSpec, at: FieldReport, visit: (each: ContainerVisitor) => void): void {
  for (const [where, name] of POD_FIELDS) {
    const holder: object = where === 'spec' ? spec : (spec.securityContext ?? {});
    if (!isSet(name, (holder as Record<string, unknown>)[name])) continue;
    (where === 'spec' ? at : at.child('securityContext')).child(name).forbidden(NOT_ON_WINDOWS);
  }
  visit(({ securityContext }, field) => {
    if (!securityContext) return;
    for (const name of CONTAINER_FIELDS) {
      if (securityContext[name] !== undefined) field().child('securityContext').child(name).forbidden(NOT_ON_WINDOWS);
    }
  });
}

function isSet(name: string, value: unknown): boolean {
  if (name === 'hostPID' || name === 'hostIPC') return value === true;
  return value !== undefined && (!Array.isArray(value) || value.length > 0);
}
