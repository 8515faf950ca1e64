import { isPromise, mapMaybePromise } from '#base';
import { apiVersionOf, type Status, StatusError } from '#machinery';
import type { Audit } from '../audit/audit.ts';
import type { Stage } from '../audit/audit-event.ts';
import { RequestRecord } from '../audit/request-record.ts';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';
import { isLongRunning } from './long-running.ts';

/** Records audit events of a request: RequestReceived, ResponseStarted and ResponseComplete. */
export function recordRequests(audit: Audit): Filter {
  return (request, next) => {
    const record = begin(audit, request);
    if (record === undefined) return next(request);
    return mapMaybePromise(emit(audit, record, 'RequestReceived'), (isRecorded) => {
      if (!isRecorded) throw rejection(audit);
      return respondAndRecord({ audit, record, request }, next);
    });
  };
}

/** Undefined when the policy excludes the request. */
function begin(audit: Audit, request: ApiRequest): RequestRecord | undefined {
  const config = audit.policy.evaluate(request);
  audit.metrics.countLevel(config.level);
  if (config.level === 'None' || request.audit === undefined) return undefined;
  const record = new RequestRecord(request, config, audit);
  request.audit.record = record;
  return record;
}

function rejection({ metrics }: Audit): StatusError {
  metrics.countRejection();
  return StatusError.internalError(new Error('failed to store audit event'));
}

function emit({ backend, metrics }: Audit, record: RequestRecord, stage: Stage) {
  if (record.omits(stage)) return true;
  metrics.countEvent();
  return backend.process([record.event(stage)]);
}

interface AuditedRequest {
  readonly audit: Audit;
  readonly record: RequestRecord;
  readonly request: ApiRequest;
}

function respondAndRecord(audited: AuditedRequest, next: Handler): Promise<ApiResponse> | ApiResponse {
  const { audit, record, request } = audited;
  let isBroken = false;
  request.onFinished((code) => {
    if (isBroken) return;
    if (!record.hasStatus) record.setCode(code);
    void emit(audit, record, 'ResponseComplete');
  });
  const fail = (error: unknown): never => {
    isBroken = recordFailure(audited, error);
    throw error;
  };
  try {
    const response = next(request);
    if (!isPromise(response)) return recordResponse(audited, response);
    return response.then((settled) => recordResponse(audited, settled), fail);
  } catch (error) {
    return fail(error);
  }
}

function recordResponse({ audit, record, request }: AuditedRequest, response: ApiResponse): ApiResponse {
  if (response.type === 'plain' && response.object.kind === 'Status')
    record.setStatus({ ...(response.object as Partial<Status>), code: response.code });
  else record.setCode('code' in response ? response.code : response.type === 'upgrade' ? 101 : 200);
  if (record.recordsResponses) record.setResponseObject(responseObject(response));
  if (isLongRunning(request.info)) void emit(audit, record, 'ResponseStarted');
  return response;
}

function responseObject(response: ApiResponse): unknown {
  switch (response.type) {
    case 'object':
      return named(response.object.object, response.resource);
    case 'plain':
      return response.object;
    case 'list': {
      const { resource, items, revision } = response;
      const metadata = { resourceVersion: String(revision) };
      return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items: items.map(({ object }) => object) };
    }
    default:
      return undefined;
  }
}

function named(object: object, resource: { readonly kind: string; readonly group: string; readonly version: string }): object {
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), ...object };
}

/** An unexpected error is a bug of the server: the event says so and is the last. */
function recordFailure({ audit, record }: AuditedRequest, error: unknown): boolean {
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  const { status } = StatusError.from(error);
  if (!isBug) {
    record.setStatus(status);
    return false;
  }
  record.setStatus({ ...status, message: `APIServer panic'd: ${(error as Error).message}`, code: 500 });
  void emit(audit, record, 'Panic');
  return true;
}

/** Records a request that failed authentication, with the kind of credentials it had. */
export function recordFailedAuthentication(audit: Audit, request: ApiRequest): void {
  const record = begin(audit, request);
  if (record === undefined) return;
  record.setStatus({ message: attemptedMethods(request), code: 401 });
  void emit(audit, record, 'ResponseStarted');
}

function attemptedMethods(request: ApiRequest): string {
  const [scheme = '', credentials] = (request.header('authorization') ?? '').trim().split(' ', 2);
  const methods = [
    ...(scheme.toLowerCase() === 'basic' && credentials ? ['basic'] : []),
    ...(scheme.toLowerCase() === 'bearer' && credentials !== undefined ? ['bearer'] : []),
    ...(request.query.get('access_token')?.trim() ? ['access_token'] : []),
    ...(request.clientCertificate !== undefined ? ['x509'] : []),
  ];
  return methods.length === 0
    ? 'Authentication failed, no credentials provided'
    : `Authentication failed, attempted: ${methods.join(', ')}`;
}
