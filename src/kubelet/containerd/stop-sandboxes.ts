import { AsyncSemaphore, type Logger } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';

/** The grace period of containers when the whole node stops. */
const GRACE_MS = 5_000;
const AT_ONCE = 16;

/** Stops all containers, like a machine shutdown. Stopped sandboxes remain for the kubelet to clean up. */
export async function stopSandboxes(runtime: ContainerRuntime, logger: Logger): Promise<void> {
  const limit = new AsyncSemaphore(AT_ONCE);
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers({ state: 'running' }),
    runtime.listPodSandbox({ state: 'ready' }),
  ]);
  const all = (ids: readonly string[], stop: (id: string) => Promise<void>) =>
    Promise.all(
      ids.map(async (id) => {
        using _slot = await limit.acquire();
        await stop(id).catch((error: unknown) => logger.warn('could not stop a container or sandbox', { id, error }));
      }),
    );
  await all(
    containers.map(({ id }) => id),
    (id) => runtime.stopContainer(id, GRACE_MS),
  );
  await all(
    sandboxes.map(({ id }) => id),
    (id) => runtime.stopPodSandbox(id),
  );
}
