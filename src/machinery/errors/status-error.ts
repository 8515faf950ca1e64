import { type GroupKind, type GroupResource, groupKindText, groupResourceText } from '../objects/group-resource.ts';
import { goQuote } from '../values/go-format.ts';
import { aggregateFieldErrors, type FieldError, MAX_FIELD_ERRORS, TooManyFieldErrors } from './field-error.ts';

/** The machine-readable reasons of a failed request; the empty string is an unclassified error. */
export type StatusReason =
  | ''
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The wire form of a result that is not an object: metav1.Status. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** The maximum number of field errors in a response; upstream has no limit, and may respond with many times the size of the request. */
const MAX_INVALID_FIELDS = 1000;
/** The maximum length of their texts, in the message and again in the causes. */
const MAX_INVALID_LENGTH = 64 << 10;

interface StatusParts {
  readonly code: number;
  readonly reason: StatusReason;
  readonly message: string;
  readonly details?: StatusDetails;
  readonly metadata?: Status['metadata'];
}

/**
 * An API error, received by clients as a Status. One class for the server (which throws it) and the client (which decodes it), so that in-process
 * calls and calls over the wire fail alike. Created by the static functions.
 */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: StatusReason;
  readonly details: StatusDetails | undefined;
  /** How to continue a failed list, if possible. */
  readonly metadata: Status['metadata'];

  constructor(parts: StatusParts, options?: ErrorOptions) {
    super(parts.message, options);
    this.name = 'StatusError';
    this.code = parts.code;
    this.reason = parts.reason;
    this.details = parts.details;
    this.metadata = parts.metadata ?? {};
  }

  get status(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      ...(this.message !== '' && { message: this.message }),
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details !== undefined && { details: withoutEmpty(this.details) }),
      code: this.code,
    };
  }

  get causes(): readonly StatusCause[] {
    return this.details?.causes ?? [];
  }

  get retryAfterSeconds(): number {
    return this.details?.retryAfterSeconds ?? 0;
  }

  hasCause(reason: string): boolean {
    return this.causes.some((cause) => cause.reason === reason);
  }

  static notFound(resource: GroupResource, name: string): StatusError {
    const message = `${groupResourceText(resource)} ${goQuote(name)} not found`;
    return new StatusError({ code: 404, reason: 'NotFound', message, details: resourceDetails(resource, name) });
  }

  static alreadyExists(resource: GroupResource, name: string): StatusError {
    const message = `${groupResourceText(resource)} ${goQuote(name)} already exists`;
    return new StatusError({ code: 409, reason: 'AlreadyExists', message, details: resourceDetails(resource, name) });
  }

  static generateNameConflict(resource: GroupResource, name: string, retryAfterSeconds: number): StatusError {
    const already = `${groupResourceText(resource)} ${goQuote(name)} already exists`;
    const message = `${already}, the server was not able to generate a unique name for the object`;
    const details = { ...resourceDetails(resource, name), retryAfterSeconds };
    return new StatusError({ code: 409, reason: 'AlreadyExists', message, details });
  }

  static unauthorized(message = ''): StatusError {
    return new StatusError({ code: 401, reason: 'Unauthorized', message: message === '' ? 'not authorized' : message });
  }

  static forbidden(resource: GroupResource, name: string, detail: string): StatusError {
    const message = `${forbiddenSubject(resource, name)}: ${detail}`;
    return new StatusError({ code: 403, reason: 'Forbidden', message, details: resourceDetails(resource, name) });
  }

  static conflict(resource: GroupResource, name: string, detail: string): StatusError {
    const message = `Operation cannot be fulfilled on ${groupResourceText(resource)} ${goQuote(name)}: ${detail}`;
    return new StatusError({ code: 409, reason: 'Conflict', message, details: resourceDetails(resource, name) });
  }

  static applyConflict(causes: readonly StatusCause[], message: string): StatusError {
    return new StatusError({ code: 409, reason: 'Conflict', message, details: { causes } });
  }

  static gone(message: string): StatusError {
    return new StatusError({ code: 410, reason: 'Gone', message });
  }

  /** The requested resource version is too old. */
  static expired(message: string, metadata: Status['metadata'] = {}): StatusError {
    return new StatusError({ code: 410, reason: 'Expired', message, metadata });
  }

  static invalid(kind: GroupKind, name: string, all: readonly FieldError[]): StatusError {
    const errors = all.slice(0, printedErrors(all));
    const suffix = all.length > errors.length ? ` and ${moreErrors(all.length, errors.length)} more errors` : '';
    const subject = `${groupKindText(kind)} ${goQuote(name)} is invalid`;
    const message = errors.length === 0 ? subject : `${subject}: ${aggregateFieldErrors(errors)}${suffix}`;
    const causes = errors.map((error) => ({ reason: error.type, message: error.body(), field: error.field }));
    return new StatusError({ code: 422, reason: 'Invalid', message, details: { name, group: kind.group, kind: kind.kind, causes } });
  }

  static badRequest(message: string, options?: ErrorOptions): StatusError {
    return new StatusError({ code: 400, reason: 'BadRequest', message }, options);
  }

  static tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
    return new StatusError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } });
  }

  static serviceUnavailable(message: string): StatusError {
    return new StatusError({ code: 503, reason: 'ServiceUnavailable', message });
  }

  static methodNotSupported(resource: GroupResource, action: string): StatusError {
    const message = `${action} is not supported on resources of kind ${goQuote(groupResourceText(resource))}`;
    return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: resourceDetails(resource, '') });
  }

  static notAcceptable(accepted: readonly string[]): StatusError {
    const message = `only the following media types are accepted: ${accepted.join(', ')}`;
    return new StatusError({ code: 406, reason: 'NotAcceptable', message });
  }

  static notAcceptableConversion(target: string, accepted: readonly string[]): StatusError {
    const message = `only the following media types are accepted when converting to ${target}: ${accepted.join(', ')}`;
    return new StatusError({ code: 406, reason: 'NotAcceptable', message });
  }

  static unsupportedMediaType(accepted: readonly string[]): StatusError {
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
    return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
  }

  static requestEntityTooLarge(detail: string): StatusError {
    return new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${detail}` });
  }

  /** Upstream passes on etcd's error. */
  static tooLargeToStore(): StatusError {
    return new StatusError({ code: 500, reason: '', message: 'etcdserver: request is too large' });
  }

  /** A transient error: the client should retry after the given time. */
  static serverTimeout(resource: GroupResource, operation: string, retryAfterSeconds: number): StatusError {
    const target = groupResourceText(resource);
    const message = `The ${operation} operation against ${target} could not be completed at this time, please try again.`;
    const details = { ...resourceDetails(resource, operation), retryAfterSeconds };
    return new StatusError({ code: 500, reason: 'ServerTimeout', message, details });
  }

  /** The request took too long; it may still complete. */
  static timeout(detail: string, retryAfterSeconds: number): StatusError {
    return new StatusError({ code: 504, reason: 'Timeout', message: `Timeout: ${detail}`, details: { retryAfterSeconds } });
  }

  static internalError(cause: unknown): StatusError {
    const text = errorText(cause);
    const parts = { code: 500, reason: 'InternalError', message: `Internal error occurred: ${text}` } as const;
    return new StatusError({ ...parts, details: { causes: [{ message: text }] } }, { cause });
  }

  /** Objects in the store that cannot be decoded; a cause for each. */
  static storageReadError(message: string, causes: readonly StatusCause[]): StatusError {
    return new StatusError({ code: 500, reason: 'StorageReadError', message, details: { causes } });
  }

  /** What a client makes of a Status it received. */
  static fromStatus(status: Partial<Status>): StatusError {
    const { code = 500, reason = '', message = '', details, metadata } = status;
    return new StatusError({ code, reason, message, ...(details !== undefined && { details }), ...(metadata && { metadata }) });
  }

  /** Converts any thrown value to an API error: 500 with its message and no reason, unless it is one already. */
  static from(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof TooManyFieldErrors) return StatusError.invalid({ group: '', kind: '' }, '', error.errors);
    return new StatusError({ code: 500, reason: '', message: errorText(error) }, { cause: error });
  }
}

/** Whether an error is an API failure with this reason. */
export function isStatusReason(error: unknown, reason: StatusReason): error is StatusError {
  return error instanceof StatusError && error.reason === reason;
}

/** Errors about requests without a resource have an empty group and resource. */
export const NO_RESOURCE: GroupResource = { group: '', resource: '' };

function forbiddenSubject(resource: GroupResource, name: string): string {
  if (resource.group === '' && resource.resource === '') return 'forbidden';
  const subject = groupResourceText(resource);
  return name === '' ? `${subject} is forbidden` : `${subject} ${goQuote(name)} is forbidden`;
}

function resourceDetails({ group, resource }: GroupResource, name: string): StatusDetails {
  return { name, group, kind: resource };
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Empty members are left out on the wire, as upstream's omitempty does.
function withoutEmpty(details: StatusDetails): StatusDetails {
  const { name, group, kind, uid, causes, retryAfterSeconds } = details;
  return {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(uid && { uid }),
    ...(causes && causes.length > 0 && { causes }),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  };
}

function moreErrors(all: number, printed: number): string {
  return all < MAX_FIELD_ERRORS ? String(all - printed) : `at least ${MAX_FIELD_ERRORS - printed}`;
}

/** How many errors fit into the response: at least one. */
function printedErrors(errors: readonly FieldError[]): number {
  let length = 0;
  for (const [i, error] of errors.entries()) {
    length += error.toString().length;
    if (i > 0 && (length > MAX_INVALID_LENGTH || i >= MAX_INVALID_FIELDS)) return i;
  }
  return errors.length;
}
