import type { core } from '#api';
import { AsyncSemaphore, itemNamed, itemsNamed } from '#base';
import {
  type Container,
  type ContainerResources,
  type ContainerRuntime,
  type ContainerStatus,
  RuntimeError,
  type Sandbox,
  type SandboxStatus,
} from '../cri/runtime.ts';
import { CONTAINER_NAME, POD_UID, RESTART_COUNT, SPEC_HASH } from './labels.ts';

/** A container of a pod in the runtime. */
export interface PodContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  /** The restart count. */
  readonly attempt: number;
  readonly state: ContainerStatus['state'];
  readonly image: string;
  readonly imageRef: string;
  /** Identifies the container's spec: a different one means that it was changed. Empty: unknown. */
  readonly specHash: string;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly exitCode?: number;
  /** `Completed`, `Error`, `OOMKilled`, `StartError`… */
  readonly reason?: string;
  /** The start error, or the termination message. */
  readonly message?: string;
  readonly logPath: string;
  readonly resources?: ContainerResources;
  readonly user?: ContainerStatus['user'];
  readonly stopSignal?: string;
  /** Paths in the container whose mounts are recursively read-only. */
  readonly recursiveReadOnly?: ReadonlySet<string>;
}

export interface PodSandbox {
  readonly id: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdAtMs: number;
  /** Empty for pods with hostNetwork. */
  readonly ips: readonly string[];
}

/** The state of a pod in the runtime. */
export interface PodState {
  /** The newest sandbox, ready or not. */
  readonly sandbox: PodSandbox | undefined;
  readonly sandboxes: readonly PodSandbox[];
  /** Newest first, including those of earlier sandboxes. */
  readonly containers: readonly PodContainer[];
}

export interface PodStateReader {
  readonly runtime: ContainerRuntime;
  /** The termination message of an exited container, if the runtime does not know it. */
  terminationMessage?(status: ContainerStatus): Promise<string>;
  /** Cache of exited containers by id: they do not change. */
  readonly ended?: Map<string, PodContainer>;
}

/** Per pod, so that a long list of containers does not flood the runtime's connection. */
const MAX_PARALLEL_READS = 16;

/** Reads a pod's sandboxes and containers. Those that disappear in the meantime are left out. */
export async function readPodState(reader: PodStateReader, podUid: string): Promise<PodState> {
  const { runtime } = reader;
  const filter = { labelSelector: { [POD_UID]: podUid } };
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(filter), runtime.listContainers(filter)]);
  const newest = newestSandbox(sandboxes);
  const parallelReads = new AsyncSemaphore(MAX_PARALLEL_READS);
  const [status, details] = await Promise.all([
    newest && present(runtime.podSandboxStatus(newest.id)),
    Promise.all(containers.map((container) => parallelReads.run(() => readContainer(container, reader)))),
  ]);
  const views = sandboxes.map((sandbox) => sandboxView(sandbox, sandbox.id === status?.id ? status : undefined));
  return podState(
    views.filter(({ id }) => id !== newest?.id || status !== undefined),
    details.filter((container) => container !== undefined),
  );
}

async function readContainer(container: Container, reader: PodStateReader): Promise<PodContainer | undefined> {
  const { runtime, ended, terminationMessage } = reader;
  const endState = ended?.get(container.id);
  if (endState !== undefined) return endState;
  const status = await present(runtime.containerStatus(container.id));
  if (status === undefined) return undefined;
  const left = status.state === 'exited' ? await terminationMessage?.(status) : undefined;
  const view = containerView(status, container.sandboxId, left);
  if (view.state === 'exited') ended?.set(view.id, view);
  return view;
}

async function present<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'notFound') return undefined;
    throw error;
  }
}

function sandboxView({ id, metadata, state, createdAtMs }: Sandbox, status: SandboxStatus | undefined): PodSandbox {
  return { id, attempt: metadata.attempt, isReady: (status?.state ?? state) === 'ready', createdAtMs, ips: status?.ips ?? [] };
}

export function containerView(status: ContainerStatus, sandboxId: string, terminationMessage = ''): PodContainer {
  const { id, metadata, state, image, imageRef, createdAtMs, startedAtMs, finishedAtMs, reason, labels, annotations, logPath } = status;
  const message = [status.message, terminationMessage].filter((part) => part !== '').join(': ');
  const recursive = status.mounts.filter(({ recursiveReadOnly }) => recursiveReadOnly).map(({ containerPath }) => containerPath);
  return {
    ...{ id, sandboxId, state, createdAtMs, logPath, imageRef },
    name: labels[CONTAINER_NAME] ?? metadata.name,
    attempt: Number(annotations[RESTART_COUNT] ?? metadata.attempt),
    image: image.image,
    specHash: annotations[SPEC_HASH] ?? '',
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(state === 'exited' && { finishedAtMs: finishedAtMs ?? createdAtMs, exitCode: status.exitCode }),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
    ...(status.resources && { resources: status.resources }),
    ...(status.user && { user: status.user }),
    ...(status.stopSignal && { stopSignal: status.stopSignal }),
    ...(recursive.length > 0 && { recursiveReadOnly: new Set(recursive) }),
  };
}

export function podState(sandboxes: readonly PodSandbox[], containers: readonly PodContainer[]): PodState {
  const newest = sandboxes.toSorted(compareSandboxes);
  const sorted = containers.toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.attempt - a.attempt);
  return { sandbox: newest[0], sandboxes: newest, containers: sorted };
}

/** The state with one more container, which is usually the newest. */
export function withStarted({ sandbox, sandboxes, containers }: PodState, started: PodContainer): PodState {
  const all = [started, ...containers];
  const isNewest = containers[0] === undefined || started.createdAtMs > containers[0].createdAtMs;
  return isNewest ? { sandbox, sandboxes, containers: all } : podState(sandboxes, all);
}

/** Of two with the same attempt the earlier counts: the other was created late by a stopped kubelet. */
function compareSandboxes(a: PodSandbox, b: PodSandbox): number {
  return b.attempt - a.attempt || a.createdAtMs - b.createdAtMs;
}

function newestSandbox(sandboxes: readonly Sandbox[]): Sandbox | undefined {
  if (sandboxes.length < 2) return sandboxes[0];
  return sandboxes.toSorted((a, b) => b.metadata.attempt - a.metadata.attempt || a.createdAtMs - b.createdAtMs)[0];
}

export const NO_STATE: PodState = { sandbox: undefined, sandboxes: [], containers: [] };

/** The newest container of that name. */
export function latestContainer(state: PodState, name: string): PodContainer | undefined {
  return itemNamed(state.containers, name);
}

/** The newest container of that name in the current sandbox. */
export function activeContainer(state: PodState, name: string): PodContainer | undefined {
  const { sandbox } = state;
  return itemsNamed(state.containers, name).find((container) => container.sandboxId === sandbox?.id);
}

export function isSidecar(container: core.Container): boolean {
  return container.restartPolicy === 'Always';
}

export function hasStartedRegularContainer({ spec }: core.Pod, state: PodState): boolean {
  return (spec?.containers ?? []).some(({ name }) => activeContainer(state, name) !== undefined);
}

/** The first restart rule of the container that matches the exit code. */
export function matchingRestartRule(container: core.Container, exitCode: number): core.ContainerRestartRule | undefined {
  return (container.restartPolicyRules ?? []).find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return isListed === (exitCodes.operator === 'In');
  });
}

/** Whether a container restarts after it exited with this code. */
export function shouldRestart(container: core.Container, pod: core.Pod, exitCode: number): boolean {
  const rule = matchingRestartRule(container, exitCode);
  if (rule !== undefined) return rule.action === 'Restart' || rule.action === 'RestartAllContainers';
  const policy = restartPolicyOf(container, pod);
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

export function restartPolicyOf(container: core.Container, { spec }: core.Pod): string {
  return container.restartPolicy ?? spec?.restartPolicy ?? 'Always';
}

/** Upstream's name of a pod in messages: `name_namespace(uid)`. */
export function podText({ metadata: { name, namespace = '', uid = '' } }: core.Pod): string {
  return `${name}_${namespace}(${uid})`;
}

/** All containers: init, regular and ephemeral ones share one name space. */
export function containerSpecs({ spec }: core.Pod): readonly core.Container[] {
  const ephemeral = (spec?.ephemeralContainers ?? []) as unknown as readonly core.Container[];
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...ephemeral];
}
