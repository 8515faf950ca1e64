import type { admissionregistration } from '#api';
import { isPromise, lookupTable, mapMaybePromise } from '#base';
import { StatusError, type StatusReason } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { RequestAuthorizer } from '../expressions/request-authorizer.ts';
import { type VersionedRequest, versionedRequest } from '../matching/versioned-request.ts';
import { pluginForbiddenError } from '../plugins/plugin-deps.ts';
import { type Invocation, selectInvocations } from './invocations.ts';
import { type BindingObject, type PolicyBinding, policyBinding } from './policy-binding.ts';
import { configurationStorage, isExempt, type PolicyContext, type PolicyDeps, policyContext, requestNamespace } from './policy-context.ts';
import { type PolicyHook, PolicySource } from './policy-source.ts';
import { type Denial, type PolicyResult, ValidatingPolicy } from './validating-policy.ts';

interface ValidatingBinding extends PolicyBinding {
  readonly actions: readonly string[];
}

type Source = PolicySource<ValidatingPolicy, ValidatingBinding>;
type Hooks = readonly PolicyHook<ValidatingPolicy, ValidatingBinding>[];

const MAX_ANNOTATION_SIZE = 10 * 1024;
const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';

/** Runs ValidatingAdmissionPolicies: a failure is denied, warned of or audited. */
export function validatingAdmissionPolicy(deps: PolicyDeps): AdmissionPlugin {
  const context = policyContext(deps);
  const source: Source = new PolicySource({
    policies: () => configurationStorage(deps, 'validatingadmissionpolicies'),
    bindings: () => configurationStorage(deps, 'validatingadmissionpolicybindings'),
    compilePolicy: (object) => new ValidatingPolicy(object as admissionregistration.ValidatingAdmissionPolicy, context.matching),
    compileBinding: (object) => compileBinding(object, context),
  });
  return {
    name: 'ValidatingAdmissionPolicy',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      if (isExempt(attributes)) return undefined;
      return mapMaybePromise(source.hooks(), (hooks) => (hooks.length === 0 ? undefined : validate(attributes, hooks, context)));
    },
  };
}

function compileBinding(object: KubeObject, { matching }: PolicyContext): ValidatingBinding {
  const binding = object as admissionregistration.ValidatingAdmissionPolicyBinding;
  return { ...policyBinding(object as BindingObject, matching), actions: binding.spec?.validationActions ?? [] };
}

async function validate(attributes: AdmissionAttributes, hooks: Hooks, context: PolicyContext): Promise<void> {
  const selected = await selectInvocations(hooks, attributes, context);
  const dispatch = new Dispatch(attributes, context);
  for (const invocation of selected) {
    if (invocation.problem === undefined) await dispatch.invoke(invocation);
    else if (invocation.policy.failurePolicy !== 'Ignore') {
      const { policy, binding, problem } = invocation;
      dispatch.deny({ policy: policy.name, binding: binding?.name, message: problem, reason: '' });
    }
  }
  dispatch.finish();
}

interface PolicyDenial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: StatusReason;
}

/** The evaluation of all policies for one request. */
class Dispatch {
  readonly #attributes: AdmissionAttributes;
  readonly #context: PolicyContext;
  readonly #authorizer: RequestAuthorizer;
  readonly #annotations = new Map<string, Set<string>>();
  #denied: PolicyDenial | undefined;
  #namespace: Promise<KubeObject | undefined> | undefined;
  #request: VersionedRequest | undefined;

  constructor(attributes: AdmissionAttributes, context: PolicyContext) {
    this.#attributes = attributes;
    this.#context = context;
    this.#authorizer = new RequestAuthorizer(context.authorizer, attributes);
  }

  /** Only the first denial is reported. */
  deny(denied: PolicyDenial): void {
    this.#denied ??= denied;
  }

  async invoke({ policy, binding, match, params }: Invocation<ValidatingPolicy, ValidatingBinding>): Promise<void> {
    if (params.length === 0) return;
    this.#namespace ??= requestNamespace(this.#context, this.#attributes);
    const namespace = await this.#namespace;
    if (this.#request?.match.resource !== match.resource) {
      const versioned = versionedRequest(this.#attributes, match);
      this.#request = isPromise(versioned) ? await versioned : versioned;
    }
    const request = this.#request;
    const authorizer = this.#authorizer;
    for (const param of params) {
      const result = await authorizer.evaluate(() => policy.evaluate({ request, params: param, namespace, authorizer }));
      this.#conclude(policy, binding, result);
    }
  }

  #conclude(policy: ValidatingPolicy, binding: ValidatingBinding, result: PolicyResult): void {
    for (const denial of result.denials) {
      for (const action of binding.actions) this.#act(action, { policy, binding, denial });
    }
    for (const { key, value } of result.annotations) this.#annotate(`${policy.name}/${key}`, value);
    for (const message of result.annotationErrors) this.deny({ policy: policy.name, binding: binding.name, message, reason: '' });
  }

  #act(action: string, denied: BindingDenial): void {
    const { policy, binding, denial } = denied;
    const { message, reason } = denial;
    if (action === 'Deny') this.deny({ policy: policy.name, binding: binding.name, message, reason });
    if (action === 'Audit') this.#attributes.audit?.annotate(FAILURE_ANNOTATION, failureText(denied));
    if (action !== 'Warn') return;
    this.#attributes.warn(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`);
  }

  /** Several bindings may give several values for one key. */
  #annotate(key: string, value: string): void {
    const values = this.#annotations.get(key) ?? new Set();
    this.#annotations.set(key, values.add(truncated(value)));
  }

  finish(): void {
    for (const [key, values] of this.#annotations) this.#attributes.audit?.annotate(key, [...values].join(', '));
    if (this.#denied !== undefined) throw denialError(this.#attributes, this.#denied);
  }
}

interface BindingDenial {
  readonly policy: ValidatingPolicy;
  readonly binding: ValidatingBinding;
  readonly denial: Denial;
}

function failureText({ policy, binding, denial }: BindingDenial): string {
  const { message, index } = denial;
  const failure = { message, policy: policy.name, binding: binding.name, expressionIndex: index, validationActions: binding.actions };
  return JSON.stringify([failure]);
}

function truncated(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length <= MAX_ANNOTATION_SIZE ? value : bytes.subarray(0, MAX_ANNOTATION_SIZE).toString();
}

const CODES = lookupTable<number>({ Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 });

function denialError(attributes: AdmissionAttributes, { policy, binding, message, reason }: PolicyDenial): StatusError {
  const where = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${where} denied request: ${message}`;
  const { message: forbidden, details } = pluginForbiddenError(attributes, text);
  return new StatusError({
    code: CODES[reason] ?? 422,
    reason: reason === '' ? 'Invalid' : reason,
    message: forbidden,
    details: { ...details, causes: [{ message: text }] },
  });
}
