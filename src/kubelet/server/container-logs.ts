import type { core } from '#api';
import type { ContainerRuntime, ContainerStatus, LogEntry } from '../cri/runtime.ts';
import { readPodState } from '../pod-state.ts';
import type { LogRequest } from './log-options.ts';

/** Why there is no log to show, in the words that kubectl prints. */
export class LogError extends Error {
  override readonly name = 'LogError';

  constructor(
    readonly code: 400 | 404,
    message: string,
  ) {
    super(message);
  }
}

export interface LogSource {
  readonly pod: core.Pod;
  readonly container: string;
  readonly runtime: ContainerRuntime;
}

/** The container whose log is asked for. Throws a LogError when it has none yet, or none any more. */
export async function findLoggedContainer({ pod, container, runtime }: LogSource, previous: boolean): Promise<ContainerStatus> {
  const { name } = pod.metadata;
  if (!hasContainer(pod, container)) throw new LogError(404, `container "${container}" in pod "${name}" is not available`);
  const state = await readPodState(runtime, pod.metadata.uid ?? '');
  const known = state.containers.filter((status) => status.name === container && status.state !== 'created');
  const wanted = previous ? known.filter((status) => status.state === 'exited')[known[0]?.state === 'running' ? 0 : 1] : known[0];
  if (wanted !== undefined) return wanted;
  if (previous) throw new LogError(400, `previous terminated container "${container}" in pod "${name}" not found`);
  throw new LogError(400, `container "${container}" in pod "${name}" is waiting to start: ${waitingReason(pod, container)}`);
}

function hasContainer({ spec }: core.Pod, name: string): boolean {
  const lists = [spec?.containers ?? [], spec?.initContainers ?? [], spec?.ephemeralContainers ?? []];
  return lists.some((list) => list.some((container) => container.name === name));
}

function waitingReason({ status }: core.Pod, name: string): string {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return all.find((container) => container.name === name)?.state?.waiting?.reason ?? 'no logs available yet';
}

/** The lines that were asked for, as bytes. */
export async function* logBytes(
  container: ContainerStatus,
  request: LogRequest,
  { runtime, signal }: { readonly runtime: ContainerRuntime; readonly signal: AbortSignal | undefined },
): AsyncIterable<Uint8Array> {
  let left = request.limitBytes ?? Infinity;
  for await (const entry of wantedEntries(container, request, { runtime, signal })) {
    const bytes = Buffer.from(`${request.timestamps ? `${timestamp(entry.timeMs)} ` : ''}${entry.line}\n`);
    yield bytes.length <= left ? bytes : bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
}

async function* wantedEntries(
  { id }: ContainerStatus,
  request: LogRequest,
  { runtime, signal }: { readonly runtime: ContainerRuntime; readonly signal: AbortSignal | undefined },
): AsyncIterable<LogEntry> {
  const isWanted = (entry: LogEntry) => isInTime(entry, request) && isOfStream(entry, request);
  let seenMs = -Infinity;
  if (request.tailLines !== undefined) {
    const tail: LogEntry[] = [];
    for await (const entry of runtime.containerLog(id)) {
      seenMs = entry.timeMs;
      if (!isWanted(entry)) continue;
      tail.push(entry);
      if (tail.length > request.tailLines) tail.shift();
    }
    yield* tail;
    if (!request.follow) return;
  }
  const { follow } = request;
  for await (const entry of runtime.containerLog(id, { follow, ...(signal && { signal }) })) {
    if (entry.timeMs > seenMs && isWanted(entry)) yield entry;
  }
}

function isInTime({ timeMs }: LogEntry, { sinceMs }: LogRequest): boolean {
  return sinceMs === undefined || timeMs >= sinceMs;
}

function isOfStream({ stream }: LogEntry, request: LogRequest): boolean {
  return request.stream === 'All' || request.stream.toLowerCase() === stream;
}

/** With nine decimals, as the kubelet writes them. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}
