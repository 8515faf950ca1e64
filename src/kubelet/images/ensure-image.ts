import type { core } from '#api';
import { type AsyncSemaphore, type Clock, raceAbort, type TokenBucket } from '#base';
import { formatDurationMs } from '#machinery';
import { type ContainerRuntime, type Image, RuntimeError, type SandboxConfig } from '../cri/runtime.ts';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import type { PodEvents } from '../pods/pod-events.ts';
import type { RestartBackoff } from '../pods/restart-backoff.ts';
import { StartFailure } from '../pods/start-failure.ts';
import { ImageNameError, normalizedImageName } from './image-name.ts';
import type { PullCredential, PullRecords } from './pull-records.ts';

export interface ImageDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly backoff: RestartBackoff;
  /** The error of the last pull, by backoff key. */
  readonly lastErrors: Map<string, FailedPull>;
  /** The credentials for the image's registry, in order of preference. Absent: none. */
  credentials?(pod: core.Pod, image: string): Promise<readonly PullCredential[]>;
  /** Which pods may use images on the node. Absent: all. */
  readonly pullRecords?: Pick<PullRecords, 'begin' | 'succeeded' | 'failed' | 'mustPull'> | undefined;
  /** Limits concurrent pulls. Absent: unlimited. */
  readonly pulls?: AsyncSemaphore | undefined;
  /** Limits the rate of pulls; excess pulls fail and are retried. Absent: unlimited. */
  readonly pullRate?: TokenBucket | undefined;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
}

export interface FailedPull {
  readonly reason: string;
  readonly text: string;
  readonly atMs: number;
  /** Whether the backoff of this failure was reported by an event. */
  isReported: boolean;
}

export interface ImageRequest {
  readonly pod: core.Pod;
  readonly container: Pick<core.Container, 'name' | 'image' | 'imagePullPolicy'>;
  readonly sandboxConfig: SandboxConfig;
  readonly events: PodEvents;
  readonly signal: AbortSignal;
}

/** The container's image on this node, pulled according to its policy. Throws a StartFailure. */
export type EnsureImage = (request: ImageRequest) => Promise<Image>;

/** How long ErrImagePull is shown before ImagePullBackOff. */
const SHOW_ERROR_MS = 1000;

export function imageEnsurer(deps: ImageDeps): EnsureImage {
  return (request) => ensureImage(request, deps);
}

async function ensureImage(request: ImageRequest, deps: ImageDeps): Promise<Image> {
  const { container, events } = request;
  const { name, image = '', imagePullPolicy = 'IfNotPresent' } = container;
  const spec = { image: normalizedName(image, request) };
  const present = await deps.runtime.imageStatus(spec);
  if (present !== undefined && imagePullPolicy !== 'Always' && (await mayUse(present, request, deps))) {
    events.normal(name, 'Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`);
    return present;
  }
  if (imagePullPolicy === 'Never') throw neverPulled(request);
  return pull(spec.image, request, deps);
}

/** Whether the pod may use a present image without pulling it. */
async function mayUse({ id }: Image, { pod, container }: ImageRequest, { pullRecords, credentials }: ImageDeps): Promise<boolean> {
  const { image = '' } = container;
  const own = async () => (await credentials?.(pod, image)) ?? [];
  return pullRecords === undefined || !(await pullRecords.mustPull(image, id, own));
}

function neverPulled({ container, events }: ImageRequest): StartFailure {
  const { name, image = '' } = container;
  const message = `Container image "${image}" is not present with pull policy of Never`;
  events.warning(name, 'ErrImageNeverPull', message);
  return reported('ErrImageNeverPull', message, { name, events });
}

/** Reports failures as the container's. */
function reported(
  reason: string,
  message: string,
  { name, events }: { name: string; events: PodEvents },
  retryAtMs?: number,
): StartFailure {
  events.warning(name, 'Failed', `Error: ${reason}`);
  return new StartFailure(reason, message, retryAtMs);
}

async function pull(normalized: string, request: ImageRequest, deps: ImageDeps): Promise<Image> {
  const { container, events, signal } = request;
  const { name, image = '' } = container;
  const { clock } = deps;
  checkBackoff(request, deps);
  events.normal(name, 'Pulling', `Pulling image "${image}"`);
  const begin = clock.monotonic();
  try {
    if (deps.pullRate?.tryTake() === false) throw new Error('pull QPS exceeded');
    using _slot = await deps.pulls?.acquire(signal);
    const since = clock.monotonic();
    const pulled = await raceAbort(pullWithCredentials(normalized, request, deps), signal);
    deps.kubeletMetrics?.imagePulled(request.pod, pulled.sizeBytes, clock.monotonic() - since);
    const took = formatDurationMs(Math.floor(clock.monotonic() - since));
    const withWaiting = formatDurationMs(Math.floor(clock.monotonic() - begin));
    const size = `Image size: ${pulled.sizeBytes} bytes.`;
    events.normal(name, 'Pulled', `Successfully pulled image "${image}" in ${took} (${withWaiting} including waiting). ${size}`);
    return pulled;
  } catch (error) {
    signal.throwIfAborted();
    throw failedPull(error as Error, request, deps);
  }
}

async function pullWithCredentials(image: string, { pod, sandboxConfig, signal }: ImageRequest, deps: ImageDeps): Promise<Image> {
  const { runtime, credentials, pullRecords } = deps;
  const choices = (await credentials?.(pod, image)) ?? [{}];
  let failure: unknown;
  await pullRecords?.begin(image);
  for (const credential of choices) {
    const { auth } = credential;
    try {
      const ref = await runtime.pullImage({ image }, { sandboxConfig, ...(auth && { auth }) }, { signal });
      const status = (await runtime.imageStatus({ image: ref })) ?? (await runtime.imageStatus({ image }));
      await pullRecords?.succeeded(image, status?.id ?? ref, credential);
      return status ?? { id: ref, repoTags: [], repoDigests: [], sizeBytes: 0, pinned: false };
    } catch (error) {
      failure = error;
    }
  }
  await pullRecords?.failed(image);
  throw failure;
}

function checkBackoff(request: ImageRequest, { clock, backoff, lastErrors }: ImageDeps): void {
  const { container, events } = request;
  const { name, image = '' } = container;
  const failed = lastErrors.get(keyOf(request));
  if (failed === undefined) return;
  const until = backoff.blockedUntil(keyOf(request), failed.atMs);
  if (until === undefined) return;
  if (clock.now() < failed.atMs + SHOW_ERROR_MS) throw new StartFailure(failed.reason, failed.text, failed.atMs + SHOW_ERROR_MS);
  const message = `Back-off pulling image "${image}"`;
  if (!failed.isReported) {
    events.normal(name, 'BackOff', message);
    events.warning(name, 'Failed', 'Error: ImagePullBackOff');
  }
  failed.isReported = true;
  throw new StartFailure('ImagePullBackOff', `${message}: ${failed.reason}: ${failed.text}`, until);
}

function failedPull(error: Error, request: ImageRequest, { clock, backoff, lastErrors }: ImageDeps): StartFailure {
  const { container, events } = request;
  const { name, image = '' } = container;
  const { reason, text } = pullFailure(image, error);
  events.warning(name, 'Failed', `Failed to pull image "${image}": ${text}`);
  const atMs = clock.now();
  backoff.next(keyOf(request), atMs);
  lastErrors.set(keyOf(request), { reason, text, atMs, isReported: false });
  return reported(reason, text, { name, events }, atMs + SHOW_ERROR_MS);
}

/** Failure reasons that runtimes prefix to their messages. */
const NAMED_FAILURES = new Map([
  ['RegistryUnavailable', 'the registry is unavailable'],
  ['SignatureValidationFailed', 'the signature validation failed'],
]);

function pullFailure(image: string, error: Error): { readonly reason: string; readonly text: string } {
  const description = error instanceof RuntimeError ? error.description : error.message;
  for (const [reason, words] of NAMED_FAILURES) {
    if (!description.startsWith(reason)) continue;
    return { reason, text: `image pull failed for ${image} because ${words}${description.slice(reason.length)}` };
  }
  // As upstream: the code Unknown says nothing, others are shown.
  const isUnknown = error instanceof RuntimeError && error.code === 'unknown';
  return { reason: 'ErrImagePull', text: isUnknown ? description : error.message };
}

function normalizedName(image: string, { container, events }: ImageRequest): string {
  try {
    return normalizedImageName(image);
  } catch (error) {
    if (!(error instanceof ImageNameError)) throw error;
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${error.message}`;
    events.warning(container.name, 'InspectFailed', message);
    throw reported('InvalidImageName', message, { name: container.name, events });
  }
}

function keyOf({ pod, container }: ImageRequest): string {
  return `${pod.metadata.uid ?? ''}_${container.image ?? ''}`;
}
