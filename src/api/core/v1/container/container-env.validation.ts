import { checkConfigMapKey, checkDns1123Label, checkLabelKey, checkRelaxedEnvVarName, nameIsDnsSubdomain, Quantity } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { validateNoBacksteps } from '../volume/local-path.validation.ts';
import type { EnvFromSource, EnvVar, EnvVarSource, FileKeySelector } from './env-var.ts';
import type { ObjectFieldSelector } from './object-field-selector.ts';
import type { ResourceFieldSelector } from './resource-field-selector.ts';

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** All pod fields that the downward API supports anywhere. */
const SUPPORTED_FIELDS = new Set([
  ...ENV_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
  'spec.host',
]);
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = /^(?:requests|limits)\.hugepages-/;
const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

export function validateEnv(variables: readonly EnvVar[], at: FieldReport): void {
  for (let i = 0; i < variables.length; i++) {
    const variable = variables[i] as EnvVar;
    const field = at.index(i);
    if (!variable.name) field.child('name').required();
    else field.child('name').problems(variable.name, checkRelaxedEnvVarName(variable.name));
    if (variable.valueFrom) validateValueFrom(variable.valueFrom, field.child('valueFrom'), variable.value);
  }
}

function validateValueFrom(source: EnvVarSource, at: FieldReport, value: string | undefined): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateFieldRef(fieldRef, at.child('fieldRef'), ENV_FIELDS);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, at.child('resourceFieldRef'), { inVolume: false });
  if (configMapKeyRef) validateKeyRef(configMapKeyRef, at.child('configMapKeyRef'));
  if (secretKeyRef) validateKeyRef(secretKeyRef, at.child('secretKeyRef'));
  if (fileKeyRef) validateFileKeyRef(fileKeyRef, at.child('fileKeyRef'));
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    at.invalid('', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`');
  } else if (value) at.invalid('', 'may not be specified when `value` is not empty');
  else if (count > 1) at.invalid('', 'may not have more than one field specified at a time');
}

/** A reference to a field of the pod. `allowed` are the fields that may be used here, sorted. */
export function validateFieldRef({ apiVersion, fieldPath }: ObjectFieldSelector, at: FieldReport, allowed: readonly string[]): void {
  if (!apiVersion) {
    at.child('apiVersion').required();
    return;
  }
  if (!fieldPath) {
    at.child('fieldPath').required();
    return;
  }
  const problem = fieldPathProblem(apiVersion, fieldPath);
  if (problem) at.child('fieldPath').invalid(fieldPath, `error converting fieldPath: ${problem}`);
  else validateSupportedField(fieldPath, at, allowed);
}

function fieldPathProblem(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  const subscripted = splitSubscript(fieldPath);
  if (subscripted) return isMapField(subscripted.path) ? undefined : `field label does not support subscript: ${fieldPath}`;
  return SUPPORTED_FIELDS.has(fieldPath) ? undefined : `field label not supported: ${fieldPath}`;
}

/** `path['key']` in its parts; undefined for a path without a key. */
function splitSubscript(fieldPath: string): { readonly path: string; readonly key: string } | undefined {
  const start = fieldPath.indexOf("['");
  if (start <= 0 || !fieldPath.endsWith("']") || fieldPath.length < start + 4) return undefined;
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) };
}

function isMapField(path: string): boolean {
  return path === 'metadata.annotations' || path === 'metadata.labels';
}

function validateSupportedField(fieldPath: string, at: FieldReport, allowed: readonly string[]): void {
  const subscripted = splitSubscript(fieldPath);
  if (subscripted) {
    const key = subscripted.path === 'metadata.annotations' ? subscripted.key.toLowerCase() : subscripted.key;
    at.problems(key, checkLabelKey(key));
    return;
  }
  const path = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!allowed.includes(path)) at.child('fieldPath').notSupported(path, allowed);
}

export function validateResourceFieldRef(ref: ResourceFieldSelector, at: FieldReport, { inVolume }: { readonly inVolume: boolean }): void {
  const { containerName, resource } = ref;
  if (inVolume && !containerName) at.child('containerName').required();
  else if (!resource) at.child('resource').required();
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) at.child('resource').notSupported(resource, RESOURCES);
  validateDivisor(ref, at.child('divisor'));
}

function validateDivisor({ resource = '', divisor }: ResourceFieldSelector, at: FieldReport): void {
  if (divisor === undefined) return;
  const quantity = Quantity.parse(divisor);
  if (quantity.isZero) return;
  const unit = divisorUnit(resource);
  if (!unit) return;
  const allowed = unit === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  if (allowed.includes(quantity.toString())) return;
  const list = unit === 'cpu' ? '1m and 1' : BYTE_DIVISORS.join(', ');
  at.invalid(resource, `only divisor's values ${list} are supported with the ${unit} resource`);
}

function divisorUnit(resource: string): string | undefined {
  if (HUGE_PAGES.test(resource)) return 'hugepages';
  switch (resource) {
    case 'limits.cpu':
    case 'requests.cpu':
      return 'cpu';
    case 'limits.memory':
    case 'requests.memory':
      return 'memory';
    case 'limits.ephemeral-storage':
    case 'requests.ephemeral-storage':
      return 'local ephemeral storage';
    default:
      return undefined;
  }
}

function validateKeyRef({ name = '', key }: { readonly name?: string; readonly key: string }, at: FieldReport): void {
  at.child('name').problems(name, nameIsDnsSubdomain(name, false));
  if (!key) at.child('key').required();
  else at.child('key').problems(key, checkConfigMapKey(key));
}

function validateFileKeyRef({ key, volumeName, path }: FileKeySelector, at: FieldReport): void {
  if (!key) at.child('key').required();
  else at.child('key').problems(key, checkRelaxedEnvVarName(key));
  if (!volumeName) at.child('volumeName').required();
  else at.child('volumeName').problems(volumeName, checkDns1123Label(volumeName));
  if (!path) at.child('path').required();
  else validateNoBacksteps(path, at.child('path'));
}

export function validateEnvFrom(sources: readonly EnvFromSource[], at: FieldReport): void {
  sources.forEach(({ prefix, configMapRef, secretRef }, i) => {
    const field = at.index(i);
    if (prefix) field.child('prefix').problems(prefix, checkRelaxedEnvVarName(prefix));
    if (configMapRef) validateEnvSource(configMapRef.name, field.child('configMapRef').child('name'));
    if (secretRef) validateEnvSource(secretRef.name, field.child('secretRef').child('name'));
    if (!configMapRef && !secretRef) at.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef && secretRef) at.invalid('', 'may not have more than one field specified at a time');
  });
}

function validateEnvSource(name: string | undefined, at: FieldReport): void {
  if (!name) at.required();
  else at.problems(name, nameIsDnsSubdomain(name, true));
}
