import { Quantity } from '#machinery';

export type Amounts = ReadonlyMap<string, Quantity>;

/** The requests and limits that a bound is checked against. */
export interface Demand {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** One limit of a LimitRange item. */
export interface Bound {
  readonly type: string;
  readonly resource: string;
  readonly enforced: Quantity;
}

export type Constraint = (bound: Bound, demand: Demand) => string | undefined;

export const minConstraint: Constraint = ({ type, resource, enforced }, { requests, limits }) => {
  const least = `minimum ${resource} usage per ${type} is ${enforced}`;
  const request = requests.get(resource);
  const limit = limits.get(resource);
  if (request === undefined) return `${least}.  No request is specified`;
  if (request.compare(enforced) < 0) return `${least}, but request is ${request}`;
  if (limit !== undefined && limit.compare(enforced) < 0) return `${least}, but limit is ${limit}`;
  return undefined;
};

export const maxConstraint: Constraint = ({ type, resource, enforced }, { requests, limits }) => {
  const most = `maximum ${resource} usage per ${type} is ${enforced}`;
  const request = requests.get(resource);
  const limit = limits.get(resource);
  if (limit === undefined) return `${most}.  No limit is specified`;
  if (limit.compare(enforced) > 0) return `${most}, but limit is ${limit}`;
  if (request !== undefined && request.compare(enforced) > 0) return `${most}, but request is ${request}`;
  return undefined;
};

/** For objects that have requests only, such as PersistentVolumeClaims. */
export const maxRequestConstraint: Constraint = ({ type, resource, enforced }, { requests }) => {
  const most = `maximum ${resource} usage per ${type} is ${enforced}`;
  const request = requests.get(resource);
  if (request === undefined) return `${most}.  No request is specified`;
  return request.compare(enforced) > 0 ? `${most}, but request is ${request}` : undefined;
};

export const ratioConstraint: Constraint = ({ type, resource, enforced }, { requests, limits }) => {
  const ratio = `${resource} max limit to request ratio per ${type} is ${enforced}`;
  const request = requests.get(resource) ?? Quantity.zero;
  const limit = limits.get(resource) ?? Quantity.zero;
  if (request.isZero) return `${ratio}, but no request is specified or request is 0`;
  if (limit.isZero) return `${ratio}, but no limit is specified or limit is 0`;
  const provided = limit.toNumber() / request.toNumber();
  return provided > enforced.toNumber() ? `${ratio}, but provided ratio is ${provided.toFixed(6)}` : undefined;
};
