import type { admissionregistration } from '#api';
import { type GroupVersionKind, type Selector, StatusError, selectorFromObject } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { admissionNamespace, kindFor } from './admission-kind.ts';
import type { MatchContext } from './match-context.ts';
import { type ResourceRule, ruleMatches } from './resource-rule.ts';

/** How a request matched: the resource, possibly in another version than requested. */
export interface RequestMatch {
  readonly resource: ServedResource;
  readonly kind: GroupVersionKind;
}

export interface MatchCriteria {
  readonly namespaceSelector?: admissionregistration.MatchResources['namespaceSelector'];
  readonly objectSelector?: admissionregistration.MatchResources['objectSelector'];
  readonly resourceRules: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly matchPolicy?: string | undefined;
  /** Whether criteria without rules match every request (bindings) or none (webhooks). */
  readonly matchesWithoutRules: boolean;
}

/** Decides which requests a webhook, a policy or a binding is about. Selectors are compiled once. */
export class RequestMatcher {
  readonly #criteria: MatchCriteria;
  readonly #context: MatchContext;
  readonly #namespaces: Selector;
  readonly #objects: Selector;
  /** Why a selector cannot be compiled: an error of the requests that the rules match, not of all. */
  readonly #problem: string | undefined;

  constructor(criteria: MatchCriteria, context: MatchContext) {
    this.#criteria = criteria;
    this.#context = context;
    const [namespaces, objects] = [criteria.namespaceSelector, criteria.objectSelector].map(compiledSelector);
    this.#namespaces = namespaces!.selector;
    this.#objects = objects!.selector;
    this.#problem = namespaces!.problem ?? objects!.problem;
  }

  /** Throws a StatusError if the namespace does not exist and its labels are needed, or a selector cannot be compiled. */
  async match(attributes: AdmissionAttributes): Promise<RequestMatch | undefined> {
    if (!this.#matchesObject(attributes)) return undefined;
    const match = this.#matchRules(attributes);
    if (match === undefined) return undefined;
    if (this.#problem !== undefined) throw StatusError.internalError(this.#problem);
    return (await this.#matchesNamespace(attributes)) ? match : undefined;
  }

  #matchesObject({ object, oldObject }: AdmissionAttributes): boolean {
    return this.#objects.isEmpty || hasLabels(object, this.#objects) || hasLabels(oldObject, this.#objects);
  }

  #matchRules(attributes: AdmissionAttributes): RequestMatch | undefined {
    const { resourceRules, excludeResourceRules = [], matchesWithoutRules } = this.#criteria;
    if (this.#firstMatch(excludeResourceRules, attributes) !== undefined) return undefined;
    if (resourceRules.length > 0) return this.#firstMatch(resourceRules, attributes);
    return matchesWithoutRules ? matchAs(attributes.resource, attributes) : undefined;
  }

  #firstMatch(rules: readonly ResourceRule[], attributes: AdmissionAttributes): RequestMatch | undefined {
    if (rules.length === 0) return undefined;
    const { resource, subresource } = attributes;
    if (rules.some((rule) => ruleMatches(rule, attributes, resource))) return matchAs(resource, attributes);
    if (this.#criteria.matchPolicy !== 'Equivalent') return undefined;
    const equivalents = this.#context.equivalents.of(resource, subresource);
    if (equivalents.length === 0) return undefined;
    for (const rule of rules) {
      const other = equivalents.find((candidate) => ruleMatches(rule, attributes, candidate));
      if (other !== undefined) return matchAs(other, attributes);
    }
    return undefined;
  }

  async #matchesNamespace(attributes: AdmissionAttributes): Promise<boolean> {
    const namespace = admissionNamespace(attributes);
    if (this.#namespaces.isEmpty || (namespace === '' && attributes.resource.resource !== 'namespaces')) return true;
    return this.#namespaces.matches(await this.#namespaceLabels(attributes, namespace));
  }

  /** For a write of a namespace, its new labels. */
  async #namespaceLabels(attributes: AdmissionAttributes, name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const { resource, subresource, operation, object } = attributes;
    const isWritten = resource.resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
    if (isWritten) return (object as KubeObject).metadata.labels;
    const namespace = await this.#context.namespace(name);
    if (namespace === undefined) throw StatusError.notFound({ group: '', resource: 'namespaces' }, name);
    return namespace.metadata.labels;
  }
}

interface CompiledSelector {
  readonly selector: Selector;
  readonly problem?: string;
}

function compiledSelector(selector: MatchCriteria['objectSelector']): CompiledSelector {
  try {
    return { selector: selectorFromObject(selector ?? {}) };
  } catch (error) {
    return { selector: selectorFromObject({}), problem: (error as Error).message };
  }
}

function matchAs(resource: ServedResource, { subresource }: AdmissionAttributes): RequestMatch {
  return { resource, kind: kindFor(resource, subresource) };
}

function hasLabels(object: unknown, selector: Selector): boolean {
  const metadata = (object as Partial<KubeObject> | undefined)?.metadata;
  return metadata !== undefined && selector.matches(metadata.labels);
}
