import { core } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { ContainerConfig } from '../../cri/runtime.ts';
import { resourceFieldValue } from '../../resource-field.ts';
import { StartFailure } from '../start-failure.ts';
import { MAX_PROGRAM_LENGTH } from './container-config.ts';
import { envFileValue } from './env-file.ts';
import { ExpansionTooLarge, expandVariables } from './expand-variables.ts';
import { fieldValue } from './field-values.ts';
import { type ServiceSource, serviceEnvironment } from './service-environment.ts';

export interface EnvironmentFacts {
  readonly pod: core.Pod;
  readonly container: core.Container;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
  readonly client: Client;
  /** Absent: no service variables. */
  readonly services?: ServiceSource | undefined;
  /** The host path of a volume. */
  volumePath?(volume: string): string;
}

/** Variables by name, with their total size. */
class Variables extends Map<string, string> {
  length = 0;

  override set(name: string, value: string): this {
    this.length += name.length + value.length;
    return super.set(name, value);
  }
}

/** The environment of a container, with references resolved. Throws a StartFailure when one is missing. */
export async function environment(facts: EnvironmentFacts): Promise<ContainerConfig['envs']> {
  const { container, services, pod } = facts;
  await services?.synced;
  const ofServices = services === undefined ? NO_VARIABLES : serviceEnvironment(pod, services);
  const own = new Variables();
  try {
    for (const source of container.envFrom ?? []) await addAll(own, source, facts);
    for (const variable of container.env ?? []) await addOne(own, variable, { facts, ofServices });
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure('CreateContainerConfigError', (error as Error).message);
  }
  return Array.from(new Map([...own, ...without(ofServices, own)]), ([name, value]) => ({ name, value }));
}

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();

function without(variables: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>) {
  return [...variables].filter(([name]) => !others.has(name));
}

async function addAll(variables: Variables, source: core.EnvFromSource, facts: EnvironmentFacts): Promise<void> {
  const { prefix = '', configMapRef, secretRef } = source;
  const values = configMapRef ? await configMapValues(facts, configMapRef) : secretRef ? await secretValues(facts, secretRef) : {};
  for (const [key, value] of Object.entries(values ?? {})) variables.set(prefix + key, value);
}

interface Scope {
  readonly facts: EnvironmentFacts;
  readonly ofServices: ReadonlyMap<string, string>;
}

async function addOne(variables: Variables, { name, value, valueFrom }: core.EnvVar, { facts, ofServices }: Scope): Promise<void> {
  if (value) variables.set(name, expanded(name, value, { variables, ofServices }));
  else if (valueFrom === undefined) variables.set(name, '');
  else {
    const referred = await referredValue(valueFrom, facts);
    if (referred !== undefined) variables.set(name, referred);
  }
}

function expanded(name: string, value: string, scope: { variables: Variables; ofServices: ReadonlyMap<string, string> }): string {
  const { variables, ofServices } = scope;
  if (!value.includes('$')) return value;
  try {
    return expandVariables(value, new Map([...ofServices, ...variables]), MAX_PROGRAM_LENGTH - variables.length);
  } catch (error) {
    if (!(error instanceof ExpansionTooLarge)) throw error;
    const why = `the variables of the container exceed ${MAX_PROGRAM_LENGTH} characters once references are expanded`;
    throw new StartFailure('CreateContainerConfigError', `cannot expand variable ${name}: ${why}`);
  }
}

async function referredValue(source: core.EnvVarSource, facts: EnvironmentFacts): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) return fieldValue(fieldRef.fieldPath ?? '', facts);
  if (resourceFieldRef) return resourceFieldValue(resourceFieldRef, facts);
  if (configMapKeyRef) return keyOf(await configMapValues(facts, configMapKeyRef), configMapKeyRef, { facts, kind: 'ConfigMap' });
  if (secretKeyRef) return keyOf(await secretValues(facts, secretKeyRef), secretKeyRef, { facts, kind: 'Secret' });
  return fileKeyRef ? fileValue(fileKeyRef, facts) : '';
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

async function configMapValues(
  { client, pod }: EnvironmentFacts,
  reference: Reference,
): Promise<Readonly<Record<string, string>> | undefined> {
  const name = reference.name ?? '';
  const map = await readOptional(reference, 'configmap', () => client.of(core.ConfigMap).get({ name, namespace: pod.metadata.namespace }));
  return map?.data ?? (map && {});
}

async function secretValues(
  { client, pod }: EnvironmentFacts,
  reference: Reference,
): Promise<Readonly<Record<string, string>> | undefined> {
  const name = reference.name ?? '';
  const secret = await readOptional(reference, 'secret', () => client.of(core.Secret).get({ name, namespace: pod.metadata.namespace }));
  if (secret === undefined) return undefined;
  const data = secret.data as Readonly<Record<string, string | Uint8Array>> | undefined;
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, textOf(value)]));
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : Buffer.from(value).toString('utf8');
}

async function readOptional<T>({ name = '', optional }: Reference, kind: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isStatusReason(error, 'NotFound')) throw error;
    if (optional === true) return undefined;
    throw new Error(`${kind} "${name}" not found`, { cause: error });
  }
}

interface KeyContext {
  readonly facts: EnvironmentFacts;
  readonly kind: 'ConfigMap' | 'Secret';
}

function keyOf(
  values: Readonly<Record<string, string>> | undefined,
  { name = '', key = '', optional }: Reference & { readonly key?: string },
  { facts, kind }: KeyContext,
): string | undefined {
  if (values !== undefined && Object.hasOwn(values, key)) return values[key];
  if (optional === true) return undefined;
  throw new Error(`couldn't find key ${key} in ${kind} ${facts.pod.metadata.namespace ?? ''}/${name}`);
}

async function fileValue({ key, path, volumeName, optional }: core.FileKeySelector, { volumePath }: EnvironmentFacts) {
  if (volumePath === undefined) throw new Error(`cannot find the volume ${JSON.stringify(volumeName)} referenced by FileKeyRef`);
  const root = volumePath(volumeName);
  const value = await envFileValue(root, path, key);
  if (value !== '') return value;
  if (optional === true) return undefined;
  throw new Error(`environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(`${root}/${path}`)}`);
}
