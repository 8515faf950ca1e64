import type { core } from '#api';
import type { Clock } from '#base';
import { goQuote } from '#machinery';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { Prober, ProbeTarget } from '../prober/prober.ts';
import type { PodEvents } from './pod-events.ts';
import { podText } from './pod-state.ts';

export interface HookDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly prober: Prober;
  readonly signal: AbortSignal;
}

export interface HookTarget extends ProbeTarget {
  readonly pod: core.Pod;
  readonly events: PodEvents;
}

/** Runs a lifecycle hook. Rejects with upstream's message when it fails, or with the signal's reason. */
export async function runHook(hook: core.LifecycleHandler, target: HookTarget, deps: HookDeps): Promise<void> {
  const { exec, httpGet, sleep } = hook;
  if (exec !== undefined) return runCommand(exec.command ?? [], target, deps);
  if (httpGet !== undefined) return sendRequest(httpGet, target, deps);
  if (sleep === undefined) throw new Error(`Cannot run handler: invalid handler: ${JSON.stringify(hook)}`);
  return deps.clock.sleep(sleep.seconds * 1000, deps.signal);
}

/** The command is executed as it is: upstream expands variables in probes only. */
async function runCommand(command: readonly string[], target: HookTarget, { runtime, signal }: HookDeps): Promise<void> {
  const failed = (error: string, output: string) =>
    new Error(`Exec lifecycle hook ([${command.join(' ')}]) ${place(target)} failed - error: ${error}, message: ${goQuote(output)}`);
  const result = await runtime.execSync(target.containerId, { command, timeoutMs: 0 }, { signal }).catch((error: Error) => {
    signal.throwIfAborted();
    throw failed(error.message, '');
  });
  const { exitCode, stdout, stderr } = result;
  if (exitCode === 0) return;
  const error = `command '${command.join(' ')}' exited with ${exitCode}: ${stderr.toString('utf8')}`;
  throw failed(error, Buffer.concat([stdout, stderr]).toString('utf8'));
}

async function sendRequest(action: core.HTTPGetAction, target: HookTarget, { prober, signal }: HookDeps): Promise<void> {
  const { fellBackFrom } = await prober.httpGet(action, target, signal).catch((error: Error) => {
    signal.throwIfAborted();
    throw new Error(`HTTP lifecycle hook (${action.path ?? ''}) ${place(target)} failed - error: ${error.message}`);
  });
  if (fellBackFrom === undefined) return;
  const message = `request to HTTPS lifecycle hook ${fellBackFrom} got HTTP response, retry with HTTP succeeded`;
  target.events.warning(undefined, 'LifecycleHTTPFallback', message);
}

function place({ container, pod }: HookTarget): string {
  return `for Container ${goQuote(container.name)} in Pod ${goQuote(podText(pod))}`;
}
