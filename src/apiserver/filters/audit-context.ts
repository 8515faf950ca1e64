import type { Random } from '#base';
import type { ApiRequest, AuditContext, AuditRecord } from '../request/api-request.ts';
import type { Filter } from './chain.ts';

const ID_HEADER = 'audit-id';
/** Upstream's limit of the header. */
const MAX_ID_LENGTH = 64;

/** Attaches the audit context to the request. */
export function auditContext(random: Random): Filter {
  return (request, next) => {
    request.audit = new RequestAudit(request, random);
    return next(request);
  };
}

/** The audit ID is created on first use: in-process requests rarely need it. */
class RequestAudit implements AuditContext {
  record?: AuditRecord | undefined;
  #id: string | undefined;

  constructor(
    private readonly request: ApiRequest,
    private readonly random: Random,
  ) {}

  get id(): string {
    this.#id ??= this.request.header(ID_HEADER)?.slice(0, MAX_ID_LENGTH) || this.random.uuid();
    return this.#id;
  }
}
