import type { core } from '#api';
import { type Clock, raceAbort } from '#base';
import { formatDurationMs } from '#machinery';
import type { ContainerRuntime, ImageStatus, SandboxConfig } from '../cri/runtime.ts';
import type { PodEvents } from '../pod-events.ts';
import type { RestartBackoff } from '../restart-backoff.ts';
import { StartFailure } from '../start-failure.ts';

export interface ImageDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly backoff: RestartBackoff;
  /** What the last pull of an image said, by back-off key. */
  readonly lastErrors: Map<string, FailedPull>;
}

export interface FailedPull {
  readonly text: string;
  readonly atMs: number;
  /** The back-off of this failure was told already. */
  wasTold: boolean;
}

export interface ImageRequest {
  readonly container: core.Container;
  readonly sandbox: SandboxConfig;
  readonly events: PodEvents;
  readonly signal: AbortSignal;
}

/** How long a failed pull is shown as such before it is shown as waiting for the next one. */
const SHOW_ERROR_MS = 1000;

/** The container's image on this machine, pulled if its policy asks for that. Throws a StartFailure. */
export async function ensureImage(request: ImageRequest, deps: ImageDeps): Promise<ImageStatus> {
  const { container, events } = request;
  const image = container.image ?? '';
  if (!/^[^\s]+$/.test(image) || /[A-Z]/.test(repositoryOf(image))) throw invalidName(image, request);
  const present = container.imagePullPolicy === 'Always' ? undefined : await deps.runtime.imageStatus(image);
  if (present !== undefined) {
    events.normal(container.name, 'Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`);
    return present;
  }
  if (container.imagePullPolicy === 'Never') {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    events.warning(container.name, 'ErrImageNeverPull', message);
    throw new StartFailure('ErrImageNeverPull', message);
  }
  return pull(image, request, deps);
}

async function pull(image: string, request: ImageRequest, deps: ImageDeps): Promise<ImageStatus> {
  const { container, sandbox, events, signal } = request;
  const { clock, runtime } = deps;
  checkBackoff(image, request, deps);
  events.normal(container.name, 'Pulling', `Pulling image "${image}"`);
  const begin = clock.monotonic();
  try {
    const status = await raceAbort(runtime.pullImage(image, sandbox), signal);
    const took = formatDurationMs(Math.floor(clock.monotonic() - begin));
    const size = `Image size: ${status.sizeBytes} bytes.`;
    events.normal(container.name, 'Pulled', `Successfully pulled image "${image}" in ${took} (${took} including waiting). ${size}`);
    return status;
  } catch (error) {
    signal.throwIfAborted();
    throw failedPull(image, error as Error, request, deps);
  }
}

function checkBackoff(image: string, { sandbox, container, events }: ImageRequest, { clock, backoff, lastErrors }: ImageDeps): void {
  const key = keyOf(image, sandbox);
  const failed = lastErrors.get(key);
  if (failed === undefined) return;
  const until = backoff.blockedUntil(key, failed.atMs);
  if (until === undefined) return;
  if (clock.now() < failed.atMs + SHOW_ERROR_MS) throw new StartFailure('ErrImagePull', failed.text, failed.atMs + SHOW_ERROR_MS);
  const message = `Back-off pulling image "${image}"`;
  if (!failed.wasTold) events.normal(container.name, 'BackOff', message);
  failed.wasTold = true;
  throw new StartFailure('ImagePullBackOff', `${message}: ErrImagePull: ${failed.text}`, until);
}

function failedPull(image: string, { message }: Error, request: ImageRequest, deps: ImageDeps): StartFailure {
  const { container, sandbox, events } = request;
  const { clock, backoff, lastErrors } = deps;
  const key = keyOf(image, sandbox);
  events.warning(container.name, 'Failed', `Failed to pull image "${image}": ${message}`);
  events.warning(container.name, 'Failed', 'Error: ErrImagePull');
  const atMs = clock.now();
  backoff.next(key, atMs);
  lastErrors.set(key, { text: message, atMs, wasTold: false });
  return new StartFailure('ErrImagePull', message, atMs + SHOW_ERROR_MS);
}

function invalidName(image: string, { container, events }: ImageRequest): StartFailure {
  const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
  events.warning(container.name, 'InspectFailed', message);
  return new StartFailure('InvalidImageName', message);
}

function repositoryOf(image: string): string {
  const slash = image.indexOf('/');
  return (slash < 0 ? image : image.slice(slash)).replace(/[:@].*$/, '');
}

function keyOf(image: string, { uid }: SandboxConfig): string {
  return `${uid}_${image}`;
}
