import type { core } from '#api';
import type { Clock } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { Prober, ProbeTarget } from '../prober/prober.ts';
import { MAX_PROGRAM_LENGTH } from './config/container-config.ts';
import { expandVariables } from './config/expand-variables.ts';

export interface HookDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly prober: Prober;
  readonly signal: AbortSignal;
}

/** Runs a lifecycle hook. Rejects when it fails or the signal aborts. */
export async function runHook(hook: core.LifecycleHandler, target: ProbeTarget, deps: HookDeps): Promise<void> {
  const { runtime, clock, prober, signal } = deps;
  if (hook.sleep !== undefined) return clock.sleep(hook.sleep.seconds * 1000, signal);
  if (hook.httpGet !== undefined) {
    const { passed, output } = await prober.httpGet(hook.httpGet, target, signal);
    if (!passed) throw new Error(output);
    return;
  }
  if (hook.exec === undefined) throw new Error(`invalid handler: ${JSON.stringify(hook)}`);
  const command = literallyExpanded(hook.exec.command ?? [], target.container);
  const { exitCode, stdout, stderr } = await runtime.execSync(target.containerId, { command, timeoutMs: 0 }, { signal });
  if (exitCode === 0) return;
  const output = Buffer.concat([stdout, stderr]).toString('utf8');
  throw new Error(`command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
}

/** Expands only literal variables of the spec in commands of probes and hooks. */
export function literallyExpanded(command: readonly string[], { env = [] }: core.Container): readonly string[] {
  if (!command.some((word) => word.includes('$'))) return command;
  const variables = new Map(env.map(({ name, value = '' }) => [name, value]));
  return command.map((word) => expandVariables(word, variables, MAX_PROGRAM_LENGTH));
}
