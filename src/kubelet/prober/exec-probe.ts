import { type ContainerRuntime, RuntimeError } from '../cri/runtime.ts';
import { literallyExpanded } from '../pods/run-hook.ts';
import type { ProbeAnswer, ProbeRequest, ProbeTarget } from './prober.ts';

const MAX_OUTPUT_BYTES = 10 * 1024;

/** Succeeds when the command exits with 0 in time. Rejects when it cannot be executed. */
export async function execProbe(target: ProbeTarget, { probe, timeoutMs }: ProbeRequest, runtime: ContainerRuntime): Promise<ProbeAnswer> {
  const command = literallyExpanded(probe.exec?.command ?? [], target.container);
  try {
    const { exitCode, stdout, stderr } = await runtime.execSync(target.containerId, { command, timeoutMs });
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString('utf8');
    return { passed: exitCode === 0, output };
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'deadlineExceeded') throw error;
    return { passed: false, output: `command timed out: "${command.join(' ')}" timed out after ${timeoutMs / 1000}s` };
  }
}
