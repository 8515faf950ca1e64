import type { ContainerRuntime, ContainerStatus, ProbeAnswer, ProbeRequest } from '../cri/runtime.ts';

/** Probes that are commands, which the runtime runs; those over the network belong to runtimes whose pods this machine can reach. */
export async function askByNetwork(container: ContainerStatus, request: ProbeRequest, runtime: ContainerRuntime): Promise<ProbeAnswer> {
  const { probe, timeoutMs } = request;
  if (probe.exec === undefined) throw new Error(`the runtime cannot answer a ${request.type} probe over the network`);
  const { exitCode, stdout, stderr } = await runtime.execSync(container.id, probe.exec.command ?? [], timeoutMs);
  return { passed: exitCode === 0, output: stdout + stderr };
}
