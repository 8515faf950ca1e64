import { isPromise } from '#base';
import { cel, parseFieldSelector } from '#machinery';
import type { AuthorizationAttributes, Authorizer, Decision } from '../../authz/authorizer.ts';
import type { UserInfo } from '../../request/user.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { admissionNamespace } from '../matching/admission-kind.ts';

const PENDING: cel.AuthorizationDecision = { allowed: false, reason: '', error: 'not decided yet' };

/** Answers authorization checks of the expressions of one request; each check is made once. */
export class RequestAuthorizer {
  readonly #authorizer: Authorizer;
  readonly #attributes: AdmissionAttributes;
  readonly #answers = new Map<string, cel.AuthorizationDecision>();
  #pending: Promise<void>[] = [];

  constructor(authorizer: Authorizer, attributes: AdmissionAttributes) {
    this.#authorizer = authorizer;
    this.#attributes = attributes;
  }

  /** The variables `authorizer` and `authorizer.requestResource`. */
  variables(): Readonly<Record<string, unknown>> {
    const authorizer = new cel.AuthorizerValue((check, subject) => this.#decide(check, subject));
    const { resource, subresource, name } = this.#attributes;
    const { group, resource: plural } = resource;
    const checked = { group, resource: plural, subresource, namespace: admissionNamespace(this.#attributes), name };
    return { authorizer, 'authorizer.requestResource': new cel.ResourceCheckValue(authorizer, checked) };
  }

  /**
   * Expressions evaluate synchronously. If one needs an authorization decision that is not available yet, its result is discarded and it is
   * evaluated again once the decision has arrived.
   */
  async evaluate<T>(evaluation: () => T): Promise<T> {
    for (;;) {
      const result = evaluation();
      if (this.#pending.length === 0) return result;
      const pending = this.#pending;
      this.#pending = [];
      await Promise.all(pending);
    }
  }

  #decide(check: cel.AuthorizationCheck, subject: cel.AuthorizationSubject): cel.AuthorizationDecision {
    const key = JSON.stringify([check, subject]);
    const cached = this.#answers.get(key);
    if (cached !== undefined) return cached;
    const decision = this.#authorize(check, subject);
    if (!isPromise(decision)) return this.#remember(key, decisionOf(decision));
    const failed = (error: unknown) => ({ allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) });
    this.#pending.push(decision.then(decisionOf, failed).then((answer) => void this.#remember(key, answer)));
    return PENDING;
  }

  #remember(key: string, answer: cel.AuthorizationDecision): cel.AuthorizationDecision {
    this.#answers.set(key, answer);
    return answer;
  }

  #authorize(check: cel.AuthorizationCheck, { serviceAccount }: cel.AuthorizationSubject): Decision | Promise<Decision> {
    const user = serviceAccount === undefined ? this.#attributes.user : accountUser(serviceAccount);
    return this.#authorizer.authorize({ user, ...checkAttributes(check) });
  }
}

function decisionOf({ verdict, reason, error }: Decision): cel.AuthorizationDecision {
  return { allowed: verdict === 'allow', reason, ...(error !== undefined && { error }) };
}

function accountUser({ namespace, name }: { namespace: string; name: string }): UserInfo {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name: `system:serviceaccount:${namespace}:${name}`, groups };
}

const NO_RESOURCE = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };

function checkAttributes(check: cel.AuthorizationCheck): Omit<AuthorizationAttributes, 'user'> {
  if (check.kind === 'path') return { ...NO_RESOURCE, isResource: false, path: check.path, verb: check.verb };
  const { verb, group, resource, subresource, namespace, name, fieldSelector } = check;
  const place = { group, version: '*', resource, subresource, namespace, name };
  return { ...place, isResource: true, path: '', verb, ...fieldRequirements(fieldSelector) };
}

/** A selector that does not parse adds no requirements, so it matches no permission that requires one. */
function fieldRequirements(text: string): Pick<AuthorizationAttributes, 'fieldRequirements'> {
  if (text === '') return {};
  try {
    return { fieldRequirements: parseFieldSelector(text).requirements };
  } catch {
    return {};
  }
}
