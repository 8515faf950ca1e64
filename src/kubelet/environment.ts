import { core } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { ContainerConfig } from './cri/runtime.ts';
import { StartFailure } from './start-failure.ts';

type Variables = Map<string, string>;

export interface EnvironmentFacts {
  readonly pod: core.Pod;
  readonly container: core.Container;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly client: Client;
}

/** The variables of a container, with what they refer to read from the API. Throws a StartFailure when that is missing. */
export async function environment(facts: EnvironmentFacts): Promise<ContainerConfig['env']> {
  const { container } = facts;
  const variables: Variables = new Map();
  for (const source of container.envFrom ?? []) await addAll(variables, source, facts);
  for (const variable of container.env ?? []) await addOne(variables, variable, facts);
  return Array.from(variables, ([name, value]) => ({ name, value }));
}

async function addAll(
  variables: Variables,
  { prefix = '', configMapRef, secretRef }: core.EnvFromSource,
  facts: EnvironmentFacts,
): Promise<void> {
  const values = configMapRef ? await configMapValues(facts, configMapRef) : secretRef ? await secretValues(facts, secretRef) : {};
  for (const [key, value] of Object.entries(values ?? {})) variables.set(prefix + key, value);
}

async function addOne(variables: Variables, { name, value, valueFrom }: core.EnvVar, facts: EnvironmentFacts): Promise<void> {
  const found = valueFrom === undefined ? expand(value ?? '', variables) : await referenced(valueFrom, facts);
  if (found !== undefined) variables.set(name, found);
}

async function referenced(source: core.EnvVarSource, facts: EnvironmentFacts): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef) return fieldValue(fieldRef.fieldPath ?? '', facts);
  if (resourceFieldRef) return resourceValue(resourceFieldRef.resource ?? '', facts);
  if (configMapKeyRef) return keyOf(await configMapValues(facts, configMapKeyRef), configMapKeyRef, { facts, what: 'ConfigMap' });
  if (secretKeyRef) return keyOf(await secretValues(facts, secretKeyRef), secretKeyRef, { facts, what: 'Secret' });
  return undefined;
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
  const map = await readOptional(reference, () => client.of(core.ConfigMap).get({ name, namespace: pod.metadata.namespace }));
  return map?.data ?? (map && {});
}

async function secretValues(
  { client, pod }: EnvironmentFacts,
  reference: Reference,
): Promise<Readonly<Record<string, string>> | undefined> {
  const name = reference.name ?? '';
  const secret = await readOptional(reference, () => client.of(core.Secret).get({ name, namespace: pod.metadata.namespace }));
  if (secret === undefined) return undefined;
  const data = secret.data as Readonly<Record<string, string | Uint8Array>> | undefined;
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, textOf(value)]));
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : Buffer.from(value).toString('utf8');
}

async function readOptional<T>({ optional }: Reference, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (optional === true && isStatusReason(error, 'NotFound')) return undefined;
    throw new StartFailure('CreateContainerConfigError', (error as Error).message);
  }
}

interface KeyContext {
  readonly facts: EnvironmentFacts;
  readonly what: 'ConfigMap' | 'Secret';
}

function keyOf(
  values: Readonly<Record<string, string>> | undefined,
  { name = '', key = '', optional }: Reference & { readonly key?: string },
  { facts, what }: KeyContext,
): string | undefined {
  const value = values?.[key];
  if (value !== undefined || optional === true) return value;
  const { namespace = '' } = facts.pod.metadata;
  throw new StartFailure('CreateContainerConfigError', `couldn't find key ${key} in ${what} ${namespace}/${name}`);
}

function fieldValue(path: string, { pod, podIps, hostIps }: EnvironmentFacts): string | undefined {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (subscript !== null) return metadata[subscript[1] as 'labels' | 'annotations']?.[subscript[2] as string] ?? '';
  const ips = spec?.hostNetwork === true ? hostIps : podIps;
  const values: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec?.nodeName,
    'spec.serviceAccountName': spec?.serviceAccountName,
    'status.hostIP': hostIps[0],
    'status.hostIPs': hostIps.join(','),
    'status.podIP': ips[0],
    'status.podIPs': ips.join(','),
  };
  return values[path] ?? '';
}

function resourceValue(resource: string, { container }: EnvironmentFacts): string {
  const [kind, name = ''] = resource.split(/\.(.*)/s);
  const amounts = kind === 'limits' ? container.resources?.limits : container.resources?.requests;
  return amounts?.[name] ?? '0';
}

/** `$(NAME)` stands for an earlier variable; `$$(NAME)` for itself. */
function expand(text: string, variables: Variables): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, escaped: string, name: string | undefined) => {
    if (escaped === '$') return '$';
    return variables.get(name ?? '') ?? whole;
  });
}
