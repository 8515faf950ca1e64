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

/** The container of a log request, by the reported status. Throws a KubeletError when it does not exist yet, or no longer. */
export async function findLoggedContainer({ pod, container, runtime }: LogSource, previous: boolean): Promise<PodContainer> {
  const { name } = pod.metadata;
  if (!hasContainer(pod, container)) throw new KubeletError(404, `container "${container}" not found in pod "${name}"`);
  const id = loggedId(pod, container, previous);
  const { containers } = await readPodState({ runtime }, pod.metadata.uid ?? '');
  const instance = containers.find((candidate) => id.endsWith(`//${candidate.id}`));
  if (instance === undefined) throw new KubeletError(400, `unable to retrieve container logs for ${id}`);
  return instance;
}

function hasContainer({ spec }: core.Pod, name: string): boolean {
  const lists = [spec?.containers ?? [], spec?.initContainers ?? [], spec?.ephemeralContainers ?? []];
  return lists.some((list) => list.some((container) => container.name === name));
}

/** As upstream: what runs, else what ended last. */
function loggedId({ metadata, status = {} }: core.Pod, name: string, previous: boolean): string {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const own = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find((status) => status.name === name);
  const unable = (problem: string) => new KubeletError(400, `container "${name}" in pod "${metadata.name}" ${problem}`);
  if (own === undefined) throw unable('is not available');
  const last = own.lastState?.terminated?.containerID;
  if (previous) {
    if (!last) throw new KubeletError(400, `previous terminated container "${name}" in pod "${metadata.name}" not found`);
    return last;
  }
  const { running, terminated, waiting } = own.state ?? {};
  const current = running ? own.containerID : terminated?.containerID || last;
  if (current) return current;
  if (terminated ?? own.lastState?.terminated) throw unable('is terminated');
  throw unable(waiting ? `is waiting to start: ${waitingProblem(waiting.reason ?? '')}` : 'is waiting to start - no logs yet');
}

function waitingProblem(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
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
