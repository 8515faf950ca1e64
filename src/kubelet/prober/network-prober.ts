import type { core } from '#api';
import { type Clock, timeoutSignal } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { execProbe } from './exec-probe.ts';
import { grpcProbe } from './grpc-probe.ts';
import { httpHook, httpProbe } from './http-probe.ts';
import type { ProbeRequest, ProbeResult, Prober, ProbeTarget } from './prober.ts';
import { tcpProbe } from './tcp-probe.ts';

export interface NetworkProberDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
}

const VERSION = '1.36';
/** Errors (not failures) are retried at once. */
const ATTEMPTS = 3;

/** Executes probes as upstream: a command in the container, a request or a connection to the pod's address. */
export function networkProber(deps: NetworkProberDeps): Prober {
  return {
    probe: (target, request) => withRetries(() => probeOnce(target, request, deps)),
    httpGet: (action: core.HTTPGetAction, target, signal) => httpHook(action, target, { signal, userAgent: `kube-lifecycle/${VERSION}` }),
  };
}

async function withRetries(attempt: () => Promise<ProbeResult>): Promise<ProbeResult> {
  for (let left = ATTEMPTS - 1; left > 0; left--) {
    try {
      return await attempt();
    } catch {
      // Only the last error counts.
    }
  }
  return attempt();
}

async function probeOnce(target: ProbeTarget, request: ProbeRequest, { runtime, clock }: NetworkProberDeps): Promise<ProbeResult> {
  const { exec, httpGet, tcpSocket, grpc } = request.probe;
  if (exec !== undefined) return execProbe(target, request, runtime);
  using limit = timeoutSignal(clock, request.timeoutMs);
  const { signal } = limit;
  // Waited for, since the time limit ends with this function.
  if (httpGet !== undefined) return await httpProbe(httpGet, target, { signal, userAgent: `kube-probe/${VERSION}` });
  if (tcpSocket !== undefined) return await tcpProbe(tcpSocket, target, signal);
  if (grpc !== undefined) return await grpcProbe(grpc, target, { clock, timeoutMs: request.timeoutMs });
  throw new Error(`missing probe handler for container ${target.container.name}`);
}
