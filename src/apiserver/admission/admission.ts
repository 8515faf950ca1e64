import { isPromise, type MaybePromise, mapMaybePromise } from '#base';
import { groupResourceText } from '#machinery';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { AuditRecord } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';

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
  /** Absent when the request is not audited. */
  readonly audit?: AuditRecord | undefined;
  readonly signal?: AbortSignal | undefined;
  /** While plugins may change the object. */
  readonly reinvocation?: Reinvocation | undefined;
}

/**
 * A plugin does not see changes made by plugins that run after it. Plugins that run user-defined hooks therefore request one second round
 * after a change, and decide which of their hooks run again. There is no third round.
 */
export class Reinvocation {
  /** Whether this is the second round. */
  isSecondRound = false;
  isNeeded = false;
  #remembered: Map<string, unknown> | undefined;

  /** State that plugins keep from the first round, by plugin name. */
  get remembered(): Map<string, unknown> {
    this.#remembered ??= new Map();
    return this.#remembered;
  }
}

/**
 * One member of the admission chain. A plugin rejects by throwing a StatusError. `admit` may return a changed object (never mutates the one it
 * was given); `validate` runs after every `admit` of the chain and after the kind's own validation.
 */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The resources that it handles, such as `pods` or `ingresses.networking.k8s.io`. Absent: all. */
  readonly resources?: readonly string[];
  admit?(attributes: AdmissionAttributes): Promise<unknown> | unknown;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface AdmissionChain {
  /** The object after all mutating plugins. */
  admit(attributes: AdmissionAttributes): MaybePromise<unknown>;
  validate(attributes: AdmissionAttributes): MaybePromise<void>;
}

/** Runs plugins in the order of the array. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const admitting = new PluginSelection(plugins.filter((plugin) => plugin.admit !== undefined));
  const validating = new PluginSelection(plugins.filter((plugin) => plugin.validate !== undefined));
  return {
    admit(attributes) {
      const reinvocation = new Reinvocation();
      const plugins = admitting.for(attributes);
      return mapMaybePromise(runMutating(plugins, { ...attributes, reinvocation }), (object) => {
        if (!reinvocation.isNeeded) return object;
        reinvocation.isSecondRound = true;
        return runMutating(plugins, { ...attributes, object, reinvocation });
      });
    },
    validate: (attributes) => runValidating(validating.for(attributes), attributes),
  };
}

/** The plugins that handle a resource, computed once per resource. */
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
function runMutating(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes, next = 0): MaybePromise<unknown> {
  let current = attributes;
  for (let i = next; i < plugins.length; i++) {
    const result = plugins[i]!.admit!(current);
    if (isPromise(result)) return result.then((object) => runMutating(plugins, withResult(current, object), i + 1));
    current = withResult(current, result);
  }
  return current.object;
}

function withResult(attributes: AdmissionAttributes, object: unknown): AdmissionAttributes {
  const isChanged = object !== undefined && object !== null && object !== attributes.object;
  return isChanged ? { ...attributes, object } : attributes;
}

function runValidating(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes, next = 0): MaybePromise<void> {
  for (let i = next; i < plugins.length; i++) {
    const result = plugins[i]!.validate!(attributes);
    if (isPromise(result)) return result.then(() => runValidating(plugins, attributes, i + 1));
  }
}
