import { type Soon, whenKnown } from '#base';
import { groupResourceText } from '#machinery';
import type { UserInfo } from '../authn/user.ts';
import type { ServedResource } from '../registry/served-resource.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A change that is about to happen, as admission sees it. Objects are in the version of the request. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly resource: ServedResource;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while a name is still to be generated. */
  readonly name: string;
  /** The object as it will be; absent on delete. */
  readonly object: unknown;
  /** The object as it is; absent on create. */
  readonly oldObject: unknown;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request. */
  readonly options: unknown;
  readonly warn: (message: string) => void;
  readonly auditAnnotations: Map<string, string>;
  readonly signal?: AbortSignal | undefined;
  /** While plugins may change the object. */
  readonly reinvocation?: Reinvocation | undefined;
}

/**
 * Plugins run in one order, so those that came early have not seen what later ones did. A plugin that runs what users configured asks for a second
 * round after a change; in it, it decides itself what of its own runs again. There is no third.
 */
export class Reinvocation {
  /** Whether this is the second round. */
  isSecondRound = false;
  isNeeded = false;
  /** What plugins remember of the first round, by their names. */
  readonly remembered = new Map<string, unknown>();
}

/**
 * One member of the admission chain. A plugin refuses by throwing a StatusError. `admit` may return a changed object (never mutates the one it
 * was given); `validate` runs after every `admit` of the chain and after the kind's own validation.
 */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The resources that it has anything to do with, as `pods` or `ingresses.networking.k8s.io`. Absent: all of them. */
  readonly resources?: readonly string[];
  admit?(attributes: AdmissionAttributes): Promise<unknown> | unknown;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface AdmissionChain {
  /** The object after every plugin had its turn. */
  admit(attributes: AdmissionAttributes): Soon<unknown>;
  validate(attributes: AdmissionAttributes): Soon<void>;
}

/** Runs plugins in the order of the array. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const admitting = new PluginSelection(plugins.filter((plugin) => plugin.admit !== undefined));
  const validating = new PluginSelection(plugins.filter((plugin) => plugin.validate !== undefined));
  return {
    admit(attributes) {
      const reinvocation = new Reinvocation();
      const plugins = admitting.for(attributes);
      return whenKnown(runMutating(plugins, copyWith(attributes, attributes.object, reinvocation)), (object) => {
        if (!reinvocation.isNeeded) return object;
        reinvocation.isSecondRound = true;
        return runMutating(plugins, copyWith(attributes, object, reinvocation));
      });
    },
    validate: (attributes) => runValidating(validating.for(attributes), attributes),
  };
}

/** Which plugins a request concerns, found out once for each resource. */
class PluginSelection {
  readonly #byResource = new WeakMap<ServedResource, Readonly<Record<Operation, readonly AdmissionPlugin[]>>>();

  constructor(private readonly plugins: readonly AdmissionPlugin[]) {}

  for({ resource, operation }: AdmissionAttributes): readonly AdmissionPlugin[] {
    let selected = this.#byResource.get(resource);
    if (selected === undefined) {
      selected = this.#select(resource);
      this.#byResource.set(resource, selected);
    }
    return selected[operation];
  }

  #select(resource: ServedResource): Readonly<Record<Operation, readonly AdmissionPlugin[]>> {
    const name = groupResourceText(resource);
    const concerned = this.plugins.filter(({ resources }) => resources === undefined || resources.includes(name));
    const of = (operation: Operation) => concerned.filter(({ operations }) => operations.includes(operation));
    return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') };
  }
}

/** One after the other, from the plugin at `next` on. */
function runMutating(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes, next = 0): Soon<unknown> {
  let current = attributes;
  for (let i = next; i < plugins.length; i++) {
    const result = plugins[i]!.admit!(current);
    if (result instanceof Promise) return result.then((object) => runMutating(plugins, withResult(current, object), i + 1));
    current = withResult(current, result);
  }
  return current.object;
}

function withResult(attributes: AdmissionAttributes, object: unknown): AdmissionAttributes {
  const isChanged = object !== undefined && object !== null && object !== attributes.object;
  return isChanged ? copyWith(attributes, object, attributes.reinvocation) : attributes;
}

function runValidating(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes, next = 0): Soon<void> {
  for (let i = next; i < plugins.length; i++) {
    const result = plugins[i]!.validate!(attributes);
    if (result instanceof Promise) return result.then(() => runValidating(plugins, attributes, i + 1));
  }
}

/** Written out: copying one by one costs a tenth of a spread, and every write makes several of these. */
function copyWith(attributes: AdmissionAttributes, object: unknown, reinvocation: Reinvocation | undefined): AdmissionAttributes {
  return {
    operation: attributes.operation,
    resource: attributes.resource,
    subresource: attributes.subresource,
    namespace: attributes.namespace,
    name: attributes.name,
    object,
    oldObject: attributes.oldObject,
    user: attributes.user,
    dryRun: attributes.dryRun,
    options: attributes.options,
    warn: attributes.warn,
    auditAnnotations: attributes.auditAnnotations,
    signal: attributes.signal,
    reinvocation,
  };
}
