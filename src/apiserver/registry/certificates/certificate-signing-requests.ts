import { certificates } from '#api';
import { formatTime } from '#machinery';
import type { RequestScope, ResourceStrategy, SubresourceStrategy } from '../generic/strategy.ts';

type Request = certificates.CertificateSigningRequest;
type Condition = certificates.CertificateSigningRequestCondition;

/** The server sets the requestor. */
function withRequestor(request: Request, { user }: RequestScope): Request {
  const { username: _u, uid: _i, groups: _g, extra: _e, ...spec } = request.spec;
  const extra = user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {};
  const groups = user.groups.length > 0 ? { groups: user.groups } : {};
  return { ...request, spec: { ...spec, username: user.name, ...(user.uid && { uid: user.uid }), ...groups, ...extra }, status: {} };
}

function conditionsOf({ status }: Request): readonly Condition[] {
  return status?.conditions ?? [];
}

function withConditions(request: Request, conditions: readonly Condition[]): Request {
  const { conditions: _, ...status } = request.status ?? {};
  return { ...request, status: conditions.length === 0 ? status : { ...status, conditions } };
}

/** Sets missing times: lastUpdateTime is now, lastTransitionTime that of a condition with the same status. */
function withTimes(request: Request, old: Request, { now }: RequestScope): Request {
  const time = formatTime(now);
  const before = new Map(
    conditionsOf(old)
      .map((condition) => [`${condition.type}\n${condition.status}`, condition] as const)
      .reverse(),
  );
  const conditions = conditionsOf(request).map((condition) => {
    const previous = before.get(`${condition.type}\n${condition.status}`);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime || time,
      lastTransitionTime: condition.lastTransitionTime || previous?.lastTransitionTime || time,
    };
  });
  return withConditions(request, conditions);
}

/** Approval conditions are kept if their number is unchanged; otherwise validation reports it. */
function withDecisions(request: Request, old: Request): Request {
  return ['Approved', 'Denied'].reduce((current, type) => {
    const before = conditionsOf(old).filter((condition) => condition.type === type);
    const after = conditionsOf(current).filter((condition) => condition.type === type);
    if (before.length === 0 || before.length !== after.length) return current;
    let next = 0;
    return withConditions(
      current,
      conditionsOf(current).map((condition) => (condition.type === type ? (before[next++] ?? condition) : condition)),
    );
  }, request);
}

const status: SubresourceStrategy<Request> = {
  verbs: ['get', 'patch', 'update'],
  prepareForUpdate: (request, old, scope) => withTimes(withDecisions({ ...request, spec: old.spec }, old), old, scope),
  validateUpdate: (request, old) => certificates.certificateSigningRequestBehaviour.validateStatusUpdate?.(request, old) ?? [],
};

const approval: SubresourceStrategy<Request> = {
  verbs: ['get', 'patch', 'update'],
  prepareForUpdate: (request, old, scope) => {
    const conditions = conditionsOf(withTimes(request, old, scope));
    return withConditions({ ...request, spec: old.spec, status: old.status ?? {} }, conditions);
  },
  validateUpdate: certificates.validateCertificateSigningRequestApproval,
};

export const certificateSigningRequestsStrategy: ResourceStrategy<Request> = {
  ...certificates.certificateSigningRequestBehaviour,
  prepareForCreate: withRequestor,
  prepareForUpdate: (request, old) => ({ ...request, spec: old.spec, status: old.status ?? {} }),
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: {
    '': [['spec'], ['status']],
    status: [['spec'], ['status', 'conditions']],
    approval: [['spec'], ['status', 'certificate']],
  },
  subresources: { approval, status },
};
