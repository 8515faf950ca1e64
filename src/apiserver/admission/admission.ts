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
}

/**
 * One member of the admission chain. A plugin refuses by throwing a StatusError. `admit` may return a changed object (never mutates the one it
 * was given); `validate` runs after every `admit` of the chain and after the kind's own validation.
 */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly Operation[];
  admit?(attributes: AdmissionAttributes): Promise<unknown> | unknown;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface AdmissionChain {
  /** The object after every plugin had its turn. */
  admit(attributes: AdmissionAttributes): Promise<unknown>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}

/** Runs plugins in the order of the array. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  return {
    async admit(attributes) {
      let object = attributes.object;
      for (const plugin of plugins) {
        if (!plugin.admit || !plugin.operations.includes(attributes.operation)) continue;
        const result = plugin.admit({ ...attributes, object });
        object = (result instanceof Promise ? await result : result) ?? object;
      }
      return object;
    },
    async validate(attributes) {
      for (const plugin of plugins) {
        if (!plugin.validate || !plugin.operations.includes(attributes.operation)) continue;
        const result = plugin.validate(attributes);
        if (result instanceof Promise) await result;
      }
    },
  };
}
