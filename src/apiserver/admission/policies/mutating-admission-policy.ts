import type { admissionregistration } from '#api';
import { mapMaybePromise } from '#base';
import { apiVersionOf, deepEqual, goQuote, type JsonValue, StatusError, type StatusReason } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { OutOfBudget } from '../expressions/evaluation.ts';
import { RequestAuthorizer } from '../expressions/request-authorizer.ts';
import { InvokedHooks } from '../invoked-hooks.ts';
import { type ChangedKind, changedKind } from '../matching/changed-kind.ts';
import { convertObject, versionedRequest } from '../matching/versioned-request.ts';
import { pluginForbiddenError } from '../plugins/plugin-deps.ts';
import { type Invocation, selectInvocations } from './invocations.ts';
import { MutatingPolicy } from './mutating-policy.ts';
import { type Mutation, MutationError, mutate } from './mutation.ts';
import { type BindingObject, type PolicyBinding, policyBinding } from './policy-binding.ts';
import { configurationStorage, isExempt, type PolicyContext, type PolicyDeps, policyContext, requestNamespace } from './policy-context.ts';
import { type PolicyHook, PolicySource } from './policy-source.ts';

const NAME = 'MutatingAdmissionPolicy';

type Source = PolicySource<MutatingPolicy, PolicyBinding>;
type Hooks = readonly PolicyHook<MutatingPolicy, PolicyBinding>[];

/** Applies MutatingAdmissionPolicies. */
export function mutatingAdmissionPolicy(deps: PolicyDeps): AdmissionPlugin {
  const context = policyContext(deps);
  const source: Source = new PolicySource({
    policies: () => configurationStorage(deps, 'mutatingadmissionpolicies'),
    bindings: () => configurationStorage(deps, 'mutatingadmissionpolicybindings'),
    compilePolicy: (object) => new MutatingPolicy(object as admissionregistration.MutatingAdmissionPolicy, context.matching),
    compileBinding: (object) => policyBinding(object as BindingObject, context.matching),
  });
  return {
    name: NAME,
    operations: ['CREATE', 'UPDATE', 'CONNECT'],
    admit: (attributes) => {
      if (isExempt(attributes)) return undefined;
      return mapMaybePromise(source.hooks(), (hooks) => (hooks.length === 0 ? undefined : admit(attributes, hooks, context)));
    },
  };
}

async function admit(attributes: AdmissionAttributes, hooks: Hooks, context: PolicyContext): Promise<unknown> {
  const selected = await selectInvocations(hooks, attributes, context);
  if (selected.length === 0) return attributes.object;
  const mutating = new PolicyMutation(attributes, context);
  for (const invocation of selected) {
    if (invocation.problem === undefined) await mutating.invoke(invocation);
    else mutating.fail(invocation, invocation.problem);
  }
  return mutating.finish();
}

interface PolicyFailure {
  readonly policy: MutatingPolicy;
  readonly binding: PolicyBinding | undefined;
}

type MutatingInvocation = Invocation<MutatingPolicy, PolicyBinding>;

/** The policies applied to the object of one request, in order. */
class PolicyMutation {
  readonly #attributes: AdmissionAttributes;
  readonly #context: PolicyContext;
  readonly #authorizer: RequestAuthorizer;
  readonly #invoked: InvokedHooks;
  readonly #failures: { readonly message: string; readonly reason: StatusReason }[] = [];
  #object: unknown;
  #namespace: Promise<KubeObject | undefined> | undefined;

  constructor(attributes: AdmissionAttributes, context: PolicyContext) {
    this.#attributes = attributes;
    this.#context = context;
    this.#object = attributes.object;
    this.#authorizer = new RequestAuthorizer(context.authorizer, attributes);
    this.#invoked = InvokedHooks.of(NAME, attributes);
  }

  fail({ policy, binding }: PolicyFailure, detail: string, reason: StatusReason = 'Forbidden'): void {
    if (policy.failurePolicy === 'Ignore') return;
    const source = binding === undefined ? `policy ${goQuote(policy.name)}` : `policy '${policy.name}' with binding '${binding.name}'`;
    this.#failures.push({ message: `${source} denied request: ${detail}`, reason });
  }

  async invoke(invocation: MutatingInvocation): Promise<void> {
    for (const param of invocation.params) await this.#invokeWith(invocation, param);
  }

  async #invokeWith(invocation: MutatingInvocation, params: KubeObject | null): Promise<void> {
    const { policy, binding } = invocation;
    const input = { request: await this.#request(invocation), params, authorizer: this.#authorizer };
    const { matches, error } = await this.#authorizer.evaluate(() => policy.matches(input));
    if (error !== undefined) this.fail(invocation, error, 'Invalid');
    const key = JSON.stringify([policy.name, binding.name, params?.metadata.namespace, params?.metadata.name]);
    if (!matches || !this.#invoked.runs(key)) return;
    const before = this.#object;
    for (const mutation of policy.mutations) await this.#mutate(mutation, invocation, params);
    if (!deepEqual(before as JsonValue, this.#object as JsonValue)) this.#invoked.changed();
    if (policy.runsAgain) this.#invoked.remember(key);
  }

  #request({ match }: MutatingInvocation) {
    return versionedRequest({ ...this.#attributes, object: this.#object }, match);
  }

  async #mutate(mutation: Mutation, invocation: MutatingInvocation, params: KubeObject | null): Promise<void> {
    const request = await this.#request(invocation);
    const { object } = request;
    if (object === null) return;
    this.#namespace ??= requestNamespace(this.#context, this.#attributes);
    const input = { request, params, namespace: await this.#namespace, authorizer: this.#authorizer };
    const kind = demandKind(invocation);
    try {
      const changed = await this.#authorizer.evaluate(() => mutate(mutation, invocation.policy.bind(input), { object, kind }));
      if (changed !== object) this.#object = await this.#inRequestVersion(changed, invocation);
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof OutOfBudget)) throw error;
      this.fail(invocation, error.message, 'Invalid');
    }
  }

  async #inRequestVersion(object: KubeObject, { match }: MutatingInvocation): Promise<unknown> {
    const { resource, subresource } = this.#attributes;
    if (match.resource === resource) return object;
    const converted = await convertObject(object, { from: match.resource, to: resource, subresource });
    return { ...converted, apiVersion: apiVersionOf(resource), kind: resource.kind };
  }

  finish(): unknown {
    this.#invoked.finish(this.#object);
    const [first] = this.#failures;
    if (first === undefined) return this.#object;
    const { code, details } = pluginForbiddenError(this.#attributes, '');
    const causes = this.#failures.map(({ message }) => ({ message }));
    throw new StatusError({ code, reason: first.reason, message: first.message, details: { ...details, causes } });
  }
}

function demandKind({ match }: MutatingInvocation): ChangedKind {
  const kind = changedKind(match);
  if (kind !== undefined) return kind;
  const { group, version, kind: name } = match.kind;
  const delay = 'There can be a delay between when CustomResourceDefinitions are created and when they are available.';
  throw StatusError.serviceUnavailable(`Resource kind ${group}/${version}, Kind=${name} not found. ${delay}`);
}
