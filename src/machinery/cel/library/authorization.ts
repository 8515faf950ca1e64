import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../values/names.ts';
import { type CelLibrary, declare, method } from '../check/declarations.ts';
import { BOOL, type CelType, closedType, STRING } from '../types.ts';
import { CelObject, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';

export const AUTHORIZER_TYPE = closedType('kubernetes.authorization.Authorizer');
export const PATH_CHECK_TYPE = closedType('kubernetes.authorization.PathCheck');
export const GROUP_CHECK_TYPE = closedType('kubernetes.authorization.GroupCheck');
export const RESOURCE_CHECK_TYPE = closedType('kubernetes.authorization.ResourceCheck');
export const DECISION_TYPE = closedType('kubernetes.authorization.Decision');

/** The subject of a check: the requesting user, or a service account named by the expression. */
export interface AuthorizationSubject {
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

/** An authorization check of an expression. */
export type AuthorizationCheck =
  | { readonly kind: 'path'; readonly path: string; readonly verb: string }
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      /** Selectors as they are written; empty for none. */
      readonly fieldSelector: string;
      readonly labelSelector: string;
    };

export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/** Decides a check. Evaluation is synchronous, so the decision must be available. */
export type Authorize = (check: AuthorizationCheck, subject: AuthorizationSubject) => AuthorizationDecision;

/** Values of these types are equal if their types are; upstream does not compare their content. */
abstract class ReceiverValue extends CelObject {
  equals(other: CelValue): boolean {
    if (!(other instanceof ReceiverValue) || other.type !== this.type) throw noSuchOverload();
    return this === other;
  }
}

/** The value of the variable `authorizer`. */
export class AuthorizerValue extends ReceiverValue {
  readonly type: CelType = AUTHORIZER_TYPE;
  readonly authorize: Authorize;
  readonly subject: AuthorizationSubject;

  constructor(authorize: Authorize, subject: AuthorizationSubject = {}) {
    super();
    this.authorize = authorize;
    this.subject = subject;
  }
}

class PathCheckValue extends ReceiverValue {
  readonly type = PATH_CHECK_TYPE;
  readonly authorizer: AuthorizerValue;
  readonly path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }

  check(verb: string): DecisionValue {
    const { authorize, subject } = this.authorizer;
    return new DecisionValue(authorize({ kind: 'path', path: this.path, verb }, subject));
  }
}

class GroupCheckValue extends ReceiverValue {
  readonly type = GROUP_CHECK_TYPE;
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

/** The resource to check. */
export interface CheckedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** The value of `authorizer.requestResource` and of `resource()`. */
export class ResourceCheckValue extends ReceiverValue {
  readonly type: CelType = RESOURCE_CHECK_TYPE;
  readonly authorizer: AuthorizerValue;
  readonly resource: CheckedResource;

  constructor(authorizer: AuthorizerValue, resource: CheckedResource) {
    super();
    this.authorizer = authorizer;
    this.resource = resource;
  }

  with(change: Partial<CheckedResource>): ResourceCheckValue {
    return new ResourceCheckValue(this.authorizer, { ...this.resource, ...change });
  }

  check(verb: string): DecisionValue {
    const unset = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
    const check: AuthorizationCheck = { kind: 'resource', verb, ...unset, ...this.resource };
    return new DecisionValue(this.authorizer.authorize(check, this.authorizer.subject));
  }
}

class DecisionValue extends ReceiverValue {
  readonly type = DECISION_TYPE;
  readonly answer: AuthorizationDecision;

  constructor(answer: AuthorizationDecision) {
    super();
    this.answer = answer;
  }
}

function path(authorizer: AuthorizerValue, text: string): PathCheckValue {
  if (text.trim() === '') throw new EvalFailure('path must not be empty');
  return new PathCheckValue(authorizer, text);
}

function resource({ authorizer, group }: GroupCheckValue, text: string): ResourceCheckValue {
  if (text.trim() === '') throw new EvalFailure('resource must not be empty');
  return new ResourceCheckValue(authorizer, { group, resource: text });
}

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (nameIsDnsSubdomain(name, false).length > 0) throw new EvalFailure('Invalid service account name');
  if (nameIsDnsLabel(namespace, false).length > 0) throw new EvalFailure('Invalid service account namespace');
  return new AuthorizerValue(authorizer.authorize, { serviceAccount: { namespace, name } });
}

const REFINE = { args: [RESOURCE_CHECK_TYPE, STRING], result: RESOURCE_CHECK_TYPE };

function refinement(name: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector', id: string) {
  return declare(
    name,
    method(id, REFINE, (check: ResourceCheckValue, text: string) => check.with({ [name]: text })),
  );
}

function decisionMethod(name: string, result: CelType, read: (answer: AuthorizationDecision) => CelValue) {
  return declare(
    name,
    method(`decision_${name}`, { args: [DECISION_TYPE], result }, ({ answer }: DecisionValue) => read(answer)),
  );
}

export const AUTHORIZATION_LIBRARY: CelLibrary = {
  functions: [
    declare('path', method('authorizer_path', { args: [AUTHORIZER_TYPE, STRING], result: PATH_CHECK_TYPE }, path)),
    declare(
      'group',
      method(
        'authorizer_group',
        { args: [AUTHORIZER_TYPE, STRING], result: GROUP_CHECK_TYPE },
        (authorizer: AuthorizerValue, group: string) => new GroupCheckValue(authorizer, group),
      ),
    ),
    declare(
      'serviceAccount',
      method('authorizer_serviceaccount', { args: [AUTHORIZER_TYPE, STRING, STRING], result: AUTHORIZER_TYPE }, serviceAccount),
    ),
    declare('resource', method('groupcheck_resource', { args: [GROUP_CHECK_TYPE, STRING], result: RESOURCE_CHECK_TYPE }, resource)),
    refinement('subresource', 'resourcecheck_subresource'),
    refinement('namespace', 'resourcecheck_namespace'),
    refinement('name', 'resourcecheck_name'),
    refinement('fieldSelector', 'authorizer_fieldselector'),
    refinement('labelSelector', 'authorizer_labelselector'),
    declare(
      'check',
      method('pathcheck_check', { args: [PATH_CHECK_TYPE, STRING], result: DECISION_TYPE }, (check: PathCheckValue, verb: string) =>
        check.check(verb),
      ),
      method(
        'resourcecheck_check',
        { args: [RESOURCE_CHECK_TYPE, STRING], result: DECISION_TYPE },
        (check: ResourceCheckValue, verb: string) => check.check(verb),
      ),
    ),
    decisionMethod('errored', BOOL, (answer) => answer.error !== undefined),
    decisionMethod('error', STRING, (answer) => answer.error ?? ''),
    decisionMethod('allowed', BOOL, (answer) => answer.allowed),
    decisionMethod('reason', STRING, (answer) => answer.reason),
  ],
};
