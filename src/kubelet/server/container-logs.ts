import type { core } from '#api';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { ContainerLogs, LogEntry } from '../logs/container-logs.ts';
import { type PodContainer, readPodState } from '../pods/pod-state.ts';
import { KubeletError } from './kubelet-call.ts';
import type { LogRequest } from './log-options.ts';

export interface LogSource {
  readonly pod: core.Pod;
  readonly container: string;
  readonly runtime: ContainerRuntime;
}

/** The container of a log request. Throws a KubeletError when it does not exist yet, or no longer. */
export async function findLoggedContainer({ pod, container, runtime }: LogSource, previous: boolean): Promise<PodContainer> {
  const { name } = pod.metadata;
  if (!hasContainer(pod, container)) throw new KubeletError(404, `container "${container}" in pod "${name}" is not available`);
  const state = await readPodState({ runtime }, pod.metadata.uid ?? '');
  const instances = state.containers.filter((status) => status.name === container && status.state !== 'created');
  const instance = previous
    ? instances.filter((status) => status.state === 'exited')[instances[0]?.state === 'running' ? 0 : 1]
    : instances[0];
  if (instance !== undefined) return instance;
  if (!statusNames(pod).includes(container)) throw new KubeletError(400, `container "${container}" in pod "${name}" is not available`);
  if (previous) throw new KubeletError(400, `previous terminated container "${container}" in pod "${name}" not found`);
  throw new KubeletError(400, `container "${container}" in pod "${name}" is waiting to start: ${waitingReason(pod, container)}`);
}

function hasContainer({ spec }: core.Pod, name: string): boolean {
  const lists = [spec?.containers ?? [], spec?.initContainers ?? [], spec?.ephemeralContainers ?? []];
  return lists.some((list) => list.some((container) => container.name === name));
}

function statusNames({ status }: core.Pod): readonly string[] {
  const lists = [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses];
  return lists.flatMap((list = []) => list.map(({ name }) => name));
}

function waitingReason({ status }: core.Pod, name: string): string {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.find((container) => container.name === name)?.state?.waiting?.reason ?? 'no logs available yet';
}

const NEWLINE = 10;

/** The requested entries as bytes. */
export async function* logBytes(
  container: PodContainer,
  request: LogRequest,
  { logs, signal }: { readonly logs: ContainerLogs; readonly signal: AbortSignal | undefined },
): AsyncIterable<Uint8Array> {
  const { follow, tailLines } = request;
  let left = request.limitBytes ?? Infinity;
  let isLineStart = true;
  for await (const entry of logs.read(container, { follow, tailLines, signal })) {
    if (!isInTime(entry, request) || !isOfStream(entry, request)) continue;
    const { time, content } = entry;
    // A line's fragments share one timestamp.
    const bytes = request.timestamps && isLineStart ? Buffer.concat([Buffer.from(`${time} `), content]) : content;
    isLineStart = content.at(-1) === NEWLINE;
    yield bytes.length <= left ? bytes : bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
}

function isInTime({ timeMs }: LogEntry, { sinceMs }: LogRequest): boolean {
  return sinceMs === undefined || timeMs >= sinceMs;
}

function isOfStream({ stream }: LogEntry, request: LogRequest): boolean {
  return request.stream === 'All' || request.stream.toLowerCase() === stream;
}
