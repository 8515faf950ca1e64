import type { core } from '#api';
import { type Clock, enumeration, field, GrpcClient, GrpcError, grpcStatus, message } from '#base';
import { formatDurationMs } from '#machinery';
import { joinHostPort } from './go-errors.ts';
import type { ProbeResult, ProbeTarget } from './prober.ts';

const SERVING_STATUS = enumeration('UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN');
const REQUEST = message({ service: field(1, 'string') });
const RESPONSE = message({ status: field(1, SERVING_STATUS) });
const CHECK = { name: 'grpc.health.v1.Health/Check', request: REQUEST, response: RESPONSE };

/** Succeeds when the service is SERVING, by the gRPC health checking protocol. */
export async function grpcProbe(
  { port, service = '' }: core.GRPCAction,
  { podIp }: ProbeTarget,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<ProbeResult> {
  const address = joinHostPort(podIp, port);
  using client = new GrpcClient({ endpoint: `http://${address}`, clock, connectTimeoutMs: timeoutMs });
  try {
    const { status } = await client.unary(CHECK, { service }, { timeoutMs });
    if (status === 'SERVING') return { passed: true, output: 'service healthy' };
    return failed(`service unhealthy (responded with ${JSON.stringify(status)})`);
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    return failed(failureText(error, address, timeoutMs));
  }
}

function failed(output: string): ProbeResult {
  return { passed: false, output };
}

function failureText({ status, untouched, message: text, cause }: GrpcError, address: string, timeoutMs: number): string {
  const limit = formatDurationMs(timeoutMs);
  // Upstream redials until its timeout, whatever the error: also when the listener does not speak HTTP/2.
  if (untouched || (status === grpcStatus.unavailable && cause !== undefined))
    return `timeout: failed to connect service ${JSON.stringify(address)} within ${limit}: context deadline exceeded`;
  if (status === grpcStatus.unimplemented) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${text}`;
  }
  if (status === grpcStatus.deadlineExceeded) return `timeout: health rpc did not complete within ${limit}`;
  return `error: health rpc probe failed: rpc error: code = ${codeName(status)} desc = ${text}`;
}

/** Go's name of the status code, such as `NotFound`. */
function codeName(status: number): string {
  const name = Object.entries(grpcStatus).find(([, code]) => code === status)?.[0];
  return name === undefined ? `Code(${status})` : name.charAt(0).toUpperCase() + name.slice(1);
}
