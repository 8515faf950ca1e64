import type { MaybePromise } from '#base';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource.ts';
import type { ApiResponse } from './api-response.ts';
import type { ResourceCall } from './resource-call.ts';

/** Handles a verb of a resource instead of the generic handler: a review, for example, is not stored. */
export type VerbHandler = (call: ResourceCall<ServedResource>) => MaybePromise<ApiResponse>;

/** A subresource that is not the object itself, with its handler. */
export interface HandledSubresource extends ServedSubresource {
  readonly handler: (call: ResourceCall) => MaybePromise<ApiResponse>;
}

/** The handlers of resources and subresources that the generic handlers do not serve, by `group/resource`. */
export interface ResourceHandlers {
  readonly verbs: Readonly<Record<string, Readonly<Record<string, VerbHandler>>>>;
  readonly subresources: Readonly<Record<string, readonly HandledSubresource[]>>;
}

export function mergedHandlers(a: ResourceHandlers, b: ResourceHandlers): ResourceHandlers {
  const subresources = { ...a.subresources };
  for (const [resource, added] of Object.entries(b.subresources)) subresources[resource] = [...(subresources[resource] ?? []), ...added];
  return { verbs: { ...a.verbs, ...b.verbs }, subresources };
}

/** Looks handlers up by resource. */
export class HandlerTable {
  readonly #verbs = new Map<string, VerbHandler>();
  readonly #subresources = new Map<string, HandledSubresource['handler']>();

  constructor({ verbs, subresources }: ResourceHandlers) {
    for (const [resource, byVerb] of Object.entries(verbs)) {
      for (const [verb, handler] of Object.entries(byVerb)) this.#verbs.set(`${resource}/${verb}`, handler);
    }
    for (const [resource, list] of Object.entries(subresources)) {
      for (const { name, handler } of list) this.#subresources.set(`${resource}/${name}`, handler);
    }
  }

  verb({ group, resource }: ServedResource, verb: string): VerbHandler | undefined {
    return this.#verbs.get(`${group}/${resource}/${verb}`);
  }

  subresource({ group, resource }: ServedResource, name: string): HandledSubresource['handler'] | undefined {
    return this.#subresources.get(`${group}/${resource}/${name}`);
  }
}
