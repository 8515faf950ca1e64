import { type Clock, parseIp } from '#base';
import { formatMicroTime, isJsonObject, type Status } from '#machinery';
import type { ApiRequest, AuditRecord } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';
import { type AuditEvent, isAtLeast, type ObjectReference, type ResponseStatus, type Stage } from './audit-event.ts';
import type { EventUsers } from './event-users.ts';
import type { RequestAuditConfig } from './policy-evaluator.ts';

const MAX_USER_AGENT = 1024;
/** Limits for annotations of webhooks and policies. */
const MAX_ANNOTATIONS = 512;
const MAX_ANNOTATION_LENGTH = 256 * 1024;

export interface RequestRecordDeps {
  readonly clock: Clock;
  readonly users: EventUsers;
}

/** What all events of a request have in common. */
type CommonFields = Pick<AuditEvent, 'requestURI' | 'user' | 'sourceIPs' | 'userAgent' | 'requestReceivedTimestamp'>;

/** The collected audit data of one request. */
export class RequestRecord implements AuditRecord {
  readonly #request: ApiRequest;
  readonly #config: RequestAuditConfig;
  readonly #clock: Clock;
  readonly #users: EventUsers;
  readonly #receivedMs: number;
  #common: CommonFields | undefined;
  /** The authenticated user: impersonation replaces the user of the request. */
  readonly #user: UserInfo | undefined;
  #annotations: Record<string, string> | undefined;
  #count = 0;
  #requestObject: unknown;
  #responseObject: unknown;
  #responseStatus: ResponseStatus | undefined;
  #impersonated: { readonly user: UserInfo; readonly constraint: string } | undefined;

  constructor(request: ApiRequest, config: RequestAuditConfig, { clock, users }: RequestRecordDeps) {
    this.#request = request;
    this.#config = config;
    this.#clock = clock;
    this.#users = users;
    this.#receivedMs = clock.now();
    this.#user = request.user;
  }

  get recordsResponses(): boolean {
    return isAtLeast(this.#config.level, 'RequestResponse');
  }

  get hasStatus(): boolean {
    return this.#responseStatus !== undefined;
  }

  omits(stage: Stage): boolean {
    return this.#config.omitStages.has(stage);
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= Object.create(null) as Record<string, string>;
    if (key in this.#annotations || this.#count >= MAX_ANNOTATIONS) return;
    this.#count++;
    this.#annotations[key] = value.length > MAX_ANNOTATION_LENGTH ? value.slice(0, MAX_ANNOTATION_LENGTH) : value;
  }

  annotateBody(key: string, value: () => string): void {
    if (isAtLeast(this.#config.level, 'Request')) this.annotate(key, value());
  }

  setRequestObject(object: unknown): void {
    this.#requestObject = object;
  }

  setImpersonatedUser(user: UserInfo, constraint: string): void {
    this.#impersonated = { user, constraint };
  }

  setCode(code: number): void {
    this.#responseStatus = { ...this.#responseStatus, metadata: {}, code };
  }

  setStatus(status: Partial<Status>): void {
    const { status: outcome, message, reason, details, code } = status;
    this.#responseStatus = {
      metadata: {},
      ...(outcome && { status: outcome }),
      ...(message && { message }),
      ...(reason && { reason }),
      ...(details && { details }),
      ...(code !== undefined && { code }),
    };
  }

  setResponseObject(object: unknown): void {
    this.#responseObject = this.#omitManagedFields(object);
  }

  event(stage: Stage): AuditEvent {
    const { info } = this.#request;
    const { level } = this.#config;
    this.#common ??= this.#commonFields();
    const { requestURI, user, sourceIPs, userAgent, requestReceivedTimestamp } = this.#common;
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: this.#request.audit?.id ?? '',
      stage,
      requestURI,
      verb: info.verb,
      user,
      impersonatedUser: this.#impersonated && this.#users.of(this.#impersonated.user),
      authenticationMetadata: this.#impersonated?.constraint ? { impersonationConstraint: this.#impersonated.constraint } : undefined,
      sourceIPs,
      userAgent,
      objectRef: info.isResource ? this.#objectReference() : undefined,
      responseStatus: this.#responseStatus,
      requestObject: isAtLeast(level, 'Request') ? this.#omitManagedFields(this.#requestObject) : undefined,
      responseObject: this.#responseObject,
      requestReceivedTimestamp,
      stageTimestamp: stage === 'RequestReceived' ? requestReceivedTimestamp : formatMicroTime(this.#clock.now()),
      annotations: this.#annotations && { ...this.#annotations },
    };
  }

  #commonFields(): CommonFields {
    const request = this.#request;
    return {
      requestURI: requestUri(request),
      user: this.#users.of(this.#user),
      sourceIPs: sourceIps(request),
      userAgent: userAgent(request),
      requestReceivedTimestamp: formatMicroTime(this.#receivedMs),
    };
  }

  /** Completed from the object, such as the name on create. */
  #objectReference(): ObjectReference {
    const { namespace, name, resource, subresource, group, version } = this.#request.info;
    const metadata = metadataOf(this.#requestObject);
    const shownName = name || metadata.name;
    const shownNamespace = namespace || metadata.namespace;
    return {
      resource,
      ...(shownNamespace && { namespace: shownNamespace }),
      ...(shownName && { name: shownName }),
      ...(metadata.uid && { uid: metadata.uid }),
      ...(group && { apiGroup: group }),
      apiVersion: version,
      ...(metadata.resourceVersion && { resourceVersion: metadata.resourceVersion }),
      ...(subresource && { subresource }),
    };
  }

  #omitManagedFields(object: unknown): unknown {
    return this.#config.omitManagedFields ? withoutManagedFields(object) : object;
  }
}

type Metadata = Readonly<Partial<Record<'name' | 'namespace' | 'uid' | 'resourceVersion', string>>>;

function metadataOf(object: unknown): Metadata {
  const metadata = isJsonObject(object as never) ? (object as { metadata?: unknown }).metadata : undefined;
  return isJsonObject(metadata as never) ? (metadata as Metadata) : {};
}

function withoutManagedFields(object: unknown): unknown {
  if (!isJsonObject(object as never)) return object;
  const { items, metadata } = object as { items?: unknown; metadata?: unknown };
  const isManaged = isJsonObject(metadata as never) && (metadata as { managedFields?: unknown }).managedFields !== undefined;
  if (!isManaged && !Array.isArray(items)) return object;
  return {
    ...(object as object),
    ...(isManaged && { metadata: { ...(metadata as object), managedFields: undefined } }),
    ...(Array.isArray(items) && { items: items.map(withoutManagedFields) }),
  };
}

/** In-process requests have no URI: it is built. */
function requestUri({ url, path, query }: ApiRequest): string {
  if (url !== undefined) return url;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** From proxy headers, then the peer's address. */
function sourceIps(request: ApiRequest): readonly string[] {
  const forwarded = request.isLocal ? undefined : request.header('x-forwarded-for');
  const real = request.isLocal ? undefined : request.header('x-real-ip');
  const { remoteAddress } = request;
  if (forwarded === undefined && real === undefined) return [remoteAddress];
  const addresses = [...(forwarded ?? '').split(','), real ?? '', remoteAddress].map((text) => text.trim());
  return [...new Set(addresses.filter((text) => parseIp(text) !== undefined))];
}

function userAgent(request: ApiRequest): string | undefined {
  const text = request.header('user-agent');
  return text !== undefined && text.length > MAX_USER_AGENT ? `${text.slice(0, MAX_USER_AGENT)}...TRUNCATED` : text;
}
