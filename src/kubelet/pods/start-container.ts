import type { core } from '#api';
import { type Clock, raceAbort } from '#base';
import {
  type ContainerConfig,
  type ContainerResources,
  type ContainerRuntime,
  type Image,
  RuntimeError,
  type SandboxConfig,
  type SandboxResources,
} from '../cri/runtime.ts';
import type { EnsureImage, ImageRequest } from '../images/ensure-image.ts';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import type { Prober } from '../prober/prober.ts';
import type { ContainerAdditions, PodContext } from './hooks/pod-hook.ts';
import type { PodHooks } from './hooks/pod-hooks.ts';
import { killContainer } from './kill-container.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodSandbox } from './pod-state.ts';
import { runHook } from './run-hook.ts';
import { StartFailure } from './start-failure.ts';

export interface ContainerDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly prober: Prober;
  readonly hooks: PodHooks;
  readonly ensureImage: EnsureImage;
  readonly configs: ContainerConfigs;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
}

/** Builds CRI configurations. */
export interface ContainerConfigs {
  /** The runtime handler of the pod's RuntimeClass; empty: the default. Throws when the class does not exist. */
  runtimeHandler(pod: core.Pod): Promise<string>;
  /** Throws when the pod's configuration is invalid. */
  sandbox(pod: core.Pod, attempt: number, events: PodEvents): Promise<SandboxConfig>;
  /** The environment of a container. Throws a StartFailure when a reference is missing. */
  environment(pod: core.Pod, container: core.Container, podIps: readonly string[]): Promise<ContainerConfig['envs']>;
  /** The CRI resources for the container's requests and limits. */
  resources(pod: core.Pod, container: core.Container): ContainerResources;
  /** The CRI resources for those of all containers, and for the pod's overhead. */
  sandboxResources(pod: core.Pod): SandboxResources;
  /** Throws a StartFailure when the container must not run. */
  container(pod: core.Pod, container: core.Container, facts: ContainerConfigFacts): ContainerConfig;
  /** Called when the container runs, to link its log. */
  started?(request: StartedContainer): Promise<void>;
}

export interface StartedContainer {
  readonly containerId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
}

export interface ContainerConfigFacts {
  readonly attempt: number;
  readonly image: Image;
  readonly envs: ContainerConfig['envs'];
  readonly additions: ContainerAdditions;
  /** For ephemeral containers: the container whose process namespace they share. */
  readonly targetId?: string | undefined;
}

export interface StartRequest {
  readonly context: PodContext;
  readonly container: core.Container;
  readonly attempt: number;
  readonly sandbox: PodSandbox;
  readonly targetId?: string | undefined;
}

/** Identifies a container's spec. Only a changed image restarts a container. */
export function specHash({ name, image = '' }: core.Container): string {
  let hash = 0x811c9dc5;
  for (const text of [name, '\0', image]) for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}

/** Pulls, creates and starts a container, with upstream's events. Resolves to its id. Throws a StartFailure, or the signal's reason. */
export async function startContainer(request: StartRequest, deps: ContainerDeps): Promise<string> {
  const { context, container, sandbox } = request;
  const { pod, events, signal } = context;
  const { runtime, hooks } = deps;
  const sandboxConfig = await deps.configs.sandbox(pod, sandbox.attempt, events);
  const ensure = (imageContainer: ImageRequest['container']) =>
    deps.ensureImage({ pod, container: imageContainer, sandboxConfig, events, signal });
  const volumes = await ensureImageVolumes(request, ensure);
  const image = await ensure(container);
  const config = await configure(request, { image, volumes }, deps);
  signal.throwIfAborted();
  const id = await failing('CreateContainerError', request, () => runtime.createContainer(sandbox.id, { config, sandboxConfig }));
  events.normal(container.name, 'Created', 'Container created');
  await failing('RunContainerError', request, () => raceAbort(runtime.startContainer(id), signal));
  events.normal(container.name, 'Started', 'Container started');
  await deps.configs.started?.({ containerId: id, config, sandboxConfig });
  await hooks.postStart({ ...context, container, containerId: id });
  await afterStart(id, request, deps);
  return id;
}

/** Pulls the image volumes of the container; ids by image name. */
async function ensureImageVolumes(
  { context, container }: StartRequest,
  ensure: (imageContainer: ImageRequest['container']) => Promise<Image>,
): Promise<ReadonlyMap<string, Image>> {
  const images = new Map<string, Image>();
  for (const { name, image } of context.pod.spec?.volumes ?? []) {
    const { reference = '', pullPolicy } = image ?? {};
    if (image === undefined || !container.volumeMounts?.some((mount) => mount.name === name)) continue;
    images.set(reference, await ensure({ name: container.name, image: reference, ...(pullPolicy && { imagePullPolicy: pullPolicy }) }));
  }
  return images;
}

interface StartImages {
  readonly image: Image;
  readonly volumes: ReadonlyMap<string, Image>;
}

function withImageIds({ mounts = [], ...additions }: ContainerAdditions, volumes: ReadonlyMap<string, Image>): ContainerAdditions {
  return {
    ...additions,
    mounts: mounts.map((mount) => {
      const id = volumes.get(mount.image?.image ?? '')?.id;
      return id === undefined ? mount : { ...mount, image: { image: id, userSpecifiedImage: mount.image?.image ?? '' } };
    }),
  };
}

async function configure(request: StartRequest, { image, volumes }: StartImages, deps: ContainerDeps): Promise<ContainerConfig> {
  const { hooks, configs } = deps;
  const { context, container, attempt, sandbox, targetId } = request;
  const { pod } = context;
  return failing('CreateContainerConfigError', request, async () => {
    const { targetContainerName } = container as Partial<core.EphemeralContainer>;
    if (targetContainerName && targetId === undefined) throw new Error(`unable to find target container ${targetContainerName}`);
    const podIps = sandbox.ips;
    const envs = await configs.environment(pod, container, podIps);
    const additions = await hooks.preStart({ ...context, container, podIps, attempt, envs });
    return configs.container(pod, container, { attempt, image, envs, additions: withImageIds(additions, volumes), targetId });
  });
}

/** Reports an error as an event and as the container's waiting reason. */
async function failing<T>(reason: string, { context, container }: StartRequest, action: () => Promise<T>): Promise<T> {
  const { signal, events } = context;
  try {
    return await action();
  } catch (error) {
    if (signal.aborted) throw error;
    const message = error instanceof RuntimeError ? error.description : (error as Error).message;
    events.warning(container.name, 'Failed', `Error: ${message}`);
    throw error instanceof StartFailure ? error : new StartFailure(reason, message);
  }
}

async function afterStart(id: string, { context, container, sandbox }: StartRequest, deps: ContainerDeps): Promise<void> {
  const { events, signal, pod } = context;
  const hook = container.lifecycle?.postStart;
  if (hook === undefined) return;
  const podIp = sandbox.ips[0] ?? '';
  try {
    await raceAbort(runHook(hook, { containerId: id, container, podIp, pod, events }, { ...deps, signal }), signal);
  } catch (error) {
    signal.throwIfAborted();
    events.warning(container.name, 'FailedPostStartHook', 'PostStartHook failed');
    const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
    const target = { id, name: container.name, isRunning: true };
    await killContainer({ context, target, spec: container, podIp, graceMs, message: 'FailedPostStartHook' }, deps);
    throw new StartFailure('PostStartHookError', (error as Error).message);
  }
}
