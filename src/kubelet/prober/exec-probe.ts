import type { core } from '#api';
import { formatDurationMs, goQuote } from '#machinery';
import { type ContainerRuntime, RuntimeError } from '../cri/runtime.ts';
import { MAX_PROGRAM_LENGTH } from '../pods/config/container-config.ts';
import { expandVariables } from '../pods/config/expand-variables.ts';
import type { ProbeRequest, ProbeResult, ProbeTarget } from './prober.ts';

const MAX_OUTPUT_BYTES = 10 * 1024;

/** Succeeds when the command exits with 0 in time. Rejects when it cannot be executed. */
export async function execProbe(target: ProbeTarget, { probe, timeoutMs }: ProbeRequest, runtime: ContainerRuntime): Promise<ProbeResult> {
  const command = literallyExpanded(probe.exec?.command ?? [], target.container);
  try {
    const { exitCode, stdout, stderr } = await runtime.execSync(target.containerId, { command, timeoutMs });
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString('utf8');
    return { passed: exitCode === 0, output };
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'deadlineExceeded') throw error;
    return { passed: false, output: `command timed out: ${goQuote(command.join(' '))} timed out after ${formatDurationMs(timeoutMs)}` };
  }
}

/** Only literal variables of the spec are known here, as upstream. */
function literallyExpanded(command: readonly string[], { env = [] }: core.Container): readonly string[] {
  if (!command.some((word) => word.includes('$'))) return command;
  const variables = new Map(env.map(({ name, value = '' }) => [name, value]));
  return command.map((word) => expandVariables(word, variables, MAX_PROGRAM_LENGTH));
}
