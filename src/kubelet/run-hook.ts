import type { core } from '#api';
import type { Clock } from '#base';
import type { ContainerRuntime } from './cri/runtime.ts';
import { askByHttp, type ProbeTarget } from './probes/network-prober.ts';

const HOOK_TIMEOUT_MS = 24 * 3_600_000;

/** Does what is to be done at a turn of a container's life. Rejects when that fails or the signal aborts. */
export async function runHook(
  hook: core.LifecycleHandler,
  target: ProbeTarget,
  { runtime, clock, signal }: { readonly runtime: ContainerRuntime; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  if (hook.sleep !== undefined) return clock.sleep(hook.sleep.seconds * 1000, signal);
  if (hook.httpGet !== undefined) return request(hook.httpGet, target, { runtime, signal });
  const command = hook.exec?.command ?? [];
  const { exitCode, stderr } = await runtime.execSync(target.containerId, command, HOOK_TIMEOUT_MS);
  if (exitCode !== 0) throw new Error(`command '${command.join(' ')}' exited with ${exitCode}: ${stderr}`);
}

async function request(
  action: core.HTTPGetAction,
  target: ProbeTarget,
  { runtime, signal }: { readonly runtime: ContainerRuntime; readonly signal: AbortSignal },
): Promise<void> {
  // Containers that answer their own probes have no network that a request could reach.
  if (runtime.probe !== undefined) return;
  const { passed, output } = await askByHttp(action, target, signal);
  if (!passed) throw new Error(output);
}
