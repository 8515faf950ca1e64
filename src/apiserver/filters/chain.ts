import { type FieldRequirement, NO_RESOURCE, parseFieldSelector, StatusError } from '#machinery';
import type { Authenticator } from '../authn/authenticator.ts';
import { bearerToken } from '../authn/bearer-token.ts';
import type { UserInfo } from '../authn/user.ts';
import { ANONYMOUS } from '../authn/user.ts';
import type { AuthorizationAttributes, Authorizer, Decision } from '../authz/authorizer.ts';
import { forbiddenText } from '../authz/forbidden-text.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, Handler } from '../request/api-response.ts';

/** A step that every request passes. It throws to refuse, or answers by itself instead of calling `next`. */
export type Filter = (request: ApiRequest, next: Handler) => Promise<ApiResponse> | ApiResponse;

/** Runs filters in the order of the array, then the handler. */
export function chain(filters: readonly Filter[], handler: Handler): Handler {
  return filters.reduceRight<Handler>((next, filter) => (request) => filter(request, next), handler);
}

export interface AuthenticationOptions {
  readonly authenticators: readonly Authenticator[];
  readonly anonymous: boolean;
}

/** Finds out who asks. The first authenticator that knows the request's credentials decides. */
export function authenticate({ authenticators, anonymous }: AuthenticationOptions): Filter {
  return (request, next) => {
    if (request.user !== undefined) return next(request);
    const found = identify({ request, authenticators, hasBadCredentials: bearerToken(request) !== undefined }, 0);
    if (found instanceof Promise) return found.then((user) => proceed(request, user, anonymous, next));
    return proceed(request, found, anonymous, next);
  };
}

interface Identifying {
  readonly request: ApiRequest;
  readonly authenticators: readonly Authenticator[];
  hasBadCredentials: boolean;
}

const BAD_CREDENTIALS = 'bad credentials';
type Identity = UserInfo | typeof BAD_CREDENTIALS | undefined;

/** Answers at once unless an authenticator has to wait. One that refuses does not keep another from knowing the client by something else. */
function identify(asked: Identifying, from: number): Identity | Promise<Identity> {
  for (let i = from; i < asked.authenticators.length; i++) {
    try {
      const user = asked.authenticators[i]!.authenticate(asked.request);
      if (user instanceof Promise) return user.catch(() => refused(asked)).then((known) => known ?? identify(asked, i + 1));
      if (user !== undefined) return user;
    } catch {
      refused(asked);
    }
  }
  return asked.hasBadCredentials ? BAD_CREDENTIALS : undefined;
}

function refused(asked: Identifying): undefined {
  asked.hasBadCredentials = true;
}

/** Who shows credentials that nobody accepts is not taken for anonymous. */
function proceed(request: ApiRequest, user: Identity, anonymous: boolean, next: Handler): Promise<ApiResponse> | ApiResponse {
  if (user === BAD_CREDENTIALS || (user === undefined && !anonymous)) throw StatusError.unauthorized('Unauthorized');
  request.user = user ?? ANONYMOUS;
  return next(request);
}

export function attributesOf(request: ApiRequest, user: UserInfo): AuthorizationAttributes {
  const { isResource, path, verb, group, version, resource, subresource, namespace, name } = request.info;
  const common = { user, verb, isResource, path, group, version, resource, subresource, namespace, name };
  const selector = SELECTING_VERBS.has(verb) ? request.query.get('fieldSelector') : null;
  return selector ? { ...common, fieldRequirements: requirementsIn(selector) } : common;
}

const SELECTING_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** None when the selector cannot be read: the handler will say so to those who may ask. */
function requirementsIn(selector: string): readonly FieldRequirement[] {
  try {
    return parseFieldSelector(selector).requirements;
  } catch {
    return [];
  }
}

/** Lets through what the authorizer allows. */
export function authorize(authorizer: Authorizer): Filter {
  return (request, next) => {
    const attributes = attributesOf(request, request.user!);
    const settle = (decision: Decision) => (decision.verdict === 'allow' ? next(request) : refusal(refuse(attributes, decision)));
    const answer = authorizer.authorize(attributes);
    return answer instanceof Promise ? answer.then(settle) : settle(answer);
  };
}

/** The error for what an authorizer does not allow; one that could not decide is at fault itself. */
export function refuse(attributes: AuthorizationAttributes, { reason, error }: Decision): Error {
  return error === undefined ? forbidden(attributes, reason) : new Error(error);
}

/** A filter's own answer to what it does not let through. Browsers must not take it for anything else. */
export function refusal(error: Error): ApiResponse {
  if (!(error instanceof StatusError)) throw error;
  return { type: 'plain', code: error.code, object: { ...error.status }, headers: { 'x-content-type-options': 'nosniff' } };
}

export function forbidden(attributes: AuthorizationAttributes, reason: string): StatusError {
  const { group, resource, name, isResource } = attributes;
  const why = forbiddenText(attributes) + (reason === '' ? '' : `: ${reason}`);
  return StatusError.forbidden(isResource ? { group, resource } : NO_RESOURCE, isResource ? name : '', why);
}
