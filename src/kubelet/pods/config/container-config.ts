import type { core } from '#api';
import type { ContainerConfig, ContainerResources, ContainerSecurityContext } from '../../cri/runtime.ts';
import type { ContainerAdditions } from '../hooks/pod-hook.ts';
import * as labels from '../labels.ts';
import { StartFailure } from '../start-failure.ts';
import { ExpansionTooLarge, expandVariables } from './expand-variables.ts';

export interface ContainerFacts {
  readonly attempt: number;
  readonly imageRef: string;
  readonly specHash: string;
  readonly envs: ContainerConfig['envs'];
  readonly additions: ContainerAdditions;
  readonly resources: ContainerResources;
  readonly securityContext: ContainerSecurityContext;
}

/** The CRI configuration of a container. */
export function containerConfig(pod: core.Pod, container: core.Container, facts: ContainerFacts): ContainerConfig {
  const { name, image = '', command = [], args = [], workingDir, stdin, stdinOnce, tty, lifecycle } = container;
  const { attempt, imageRef, additions, resources } = facts;
  const envs = mergedEnvs(facts.envs, additions.envs ?? []);
  const variables = new Map(envs.map((env) => [env.name, env.value]));
  const [expandedCommand, expandedArgs] = expandedWords([command, args], variables);
  const { cpusetCpus, cpusetMems, devices, cdiDevices } = additions;
  return {
    metadata: { name, attempt },
    image: { image: imageRef, userSpecifiedImage: image },
    command: expandedCommand,
    args: expandedArgs,
    ...(workingDir && { workingDir }),
    envs,
    mounts: additions.mounts ?? [],
    ...(devices && { devices }),
    ...(cdiDevices && { cdiDevices }),
    labels: containerLabels(pod, name),
    annotations: { ...containerAnnotations(pod, container, facts), ...additions.annotations },
    logPath: `${name}/${attempt}.log`,
    ...(stdin && { stdin }),
    ...(stdinOnce && { stdinOnce }),
    ...(tty && { tty }),
    ...(lifecycle?.stopSignal && { stopSignal: lifecycle.stopSignal }),
    linux: {
      resources: { ...resources, ...(cpusetCpus && { cpusetCpus }), ...(cpusetMems && { cpusetMems }) },
      securityContext: facts.securityContext,
    },
  };
}

/** Linux's limit for arguments and environment together. */
export const MAX_PROGRAM_LENGTH = 2 * 1024 * 1024;

function expandedWords([command, args]: [readonly string[], readonly string[]], variables: ReadonlyMap<string, string>) {
  let left = MAX_PROGRAM_LENGTH;
  const expand = (text: string) => {
    const expanded = expandVariables(text, variables, left);
    left -= expanded.length;
    return expanded;
  };
  try {
    return [command.map(expand), args.map(expand)] as const;
  } catch (error) {
    if (!(error instanceof ExpansionTooLarge)) throw error;
    const message = `command and args of the container exceed ${MAX_PROGRAM_LENGTH} characters once references are expanded`;
    throw new StartFailure('CreateContainerConfigError', message);
  }
}

/** Later variables override earlier ones. */
function mergedEnvs(first: ContainerConfig['envs'], second: ContainerConfig['envs']): ContainerConfig['envs'] {
  if (second.length === 0) return first;
  const merged = new Map([...first, ...second].map((env) => [env.name, env]));
  return [...merged.values()];
}

function containerLabels({ metadata }: core.Pod, name: string): Readonly<Record<string, string>> {
  return {
    [labels.POD_NAME]: metadata.name,
    [labels.POD_NAMESPACE]: metadata.namespace ?? '',
    [labels.POD_UID]: metadata.uid ?? '',
    [labels.CONTAINER_NAME]: name,
  };
}

function containerAnnotations(
  { metadata, spec }: core.Pod,
  container: core.Container,
  facts: ContainerFacts,
): Readonly<Record<string, string>> {
  const { terminationMessagePath = '', terminationMessagePolicy = '', lifecycle, ports = [] } = container;
  const { deletionGracePeriodSeconds } = metadata;
  const { terminationGracePeriodSeconds } = spec ?? {};
  return {
    [labels.SPEC_HASH]: facts.specHash,
    [labels.RESTART_COUNT]: String(facts.attempt),
    [labels.TERMINATION_PATH]: terminationMessagePath,
    [labels.TERMINATION_POLICY]: terminationMessagePolicy,
    ...(deletionGracePeriodSeconds !== undefined && { [labels.POD_DELETION_GRACE]: String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds !== undefined && { [labels.POD_TERMINATION_GRACE]: String(terminationGracePeriodSeconds) }),
    ...(lifecycle?.preStop && { [labels.PRE_STOP]: JSON.stringify(lifecycle.preStop) }),
    ...(ports.length > 0 && { [labels.PORTS]: JSON.stringify(ports) }),
  };
}
