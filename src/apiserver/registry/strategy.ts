import type { KindBehaviour } from '#api';
import type { FieldError, StatusError } from '#machinery';
import type { UserInfo } from '../authn/user.ts';

/** Who asks and when: what a strategy may know of the request. */
/** `Unsupported`: nothing depends on objects of the kind, whatever the client asks for. */
export type Propagation = 'Background' | 'Orphan' | 'Unsupported';

export interface RequestScope {
  readonly user: UserInfo;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * How the server keeps objects of one kind, on top of the kind's own behaviour in `api/`. All functions are pure. What is absent follows the
 * common pattern: with a `status` subresource, create clears status, an update of the main resource keeps the old status, an update of status
 * keeps everything else; generation starts at 1 and grows when spec changes (`tracksGeneration`).
 */
export interface ResourceStrategy<T> extends KindBehaviour<T> {
  /** Objects come by the thousand with the same spec. */
  readonly specsRecur?: boolean;
  /** The group that failures of validation name, for a kind that is validated as one of another group (events). */
  readonly invalidGroup?: string;
  /** Verbs, in discovery's order. Default: create, delete, deletecollection, get, list, patch, update, watch. */
  readonly verbs?: readonly string[];
  /** Sent as a warning with every answer of this resource. */
  readonly deprecation?: string;
  /** PUT of a missing object creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** A name that is to be generated is its base alone: names mean something (addresses). */
  readonly namedByBase?: boolean;
  /** Has a status subresource (and the common pattern with it). */
  readonly hasStatus?: boolean;
  readonly tracksGeneration?: boolean;
  /** Why an object that is well formed cannot be read all the same: upstream turns some annotations into fields of other versions. */
  readonly conversionError?: (object: T) => string | undefined;
  /** An object that comes without any name is given one. */
  readonly namesUnnamed?: boolean;
  readonly prepareForCreate?: (object: T, scope: RequestScope) => T;
  readonly prepareForUpdate?: (object: T, old: T, scope: RequestScope) => T;
  /** An object that is found valid, as it is kept. */
  readonly canonicalize?: (object: T) => T;
  /** What is unwise in a status that is about to be. */
  readonly statusWarnings?: (object: T) => readonly string[];
  readonly prepareForStatusUpdate?: (object: T, old: T, scope: RequestScope) => T;
  /** The words for a field that cannot be selected on; they differ between kinds. */
  readonly fieldLabelError?: (field: string) => string;
  /** Deletion waits for a grace period (pods). Returns the seconds to wait, 0 to delete at once. */
  readonly gracePeriodSeconds?: (object: T, requested: number | undefined) => number;
  /** The object as it is once its deletion has begun. */
  readonly prepareForDelete?: (object: T) => T;
  /** Something besides metadata's finalizers and the grace period keeps a deleted object: a namespace's content. */
  readonly isDeletionHeld?: (object: T) => boolean;
  /** What deletion means when nobody says: background, unless a kind is older than that (Job: orphan). */
  readonly defaultPropagation?: Propagation;
  /** Deletion answers with the object, not with a Status. */
  readonly returnsDeletedObject?: boolean;
  readonly deletionWarnings?: (
    object: T,
    options: { propagationPolicy?: string | undefined; orphanDependents?: boolean | undefined },
  ) => readonly string[];
  /** Field paths that a write to this (sub)resource does not own in server-side apply, by subresource ('' is the main one). */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>;
  /** Seconds until an object expires by itself (events). */
  readonly ttlSeconds?: number;
}

/** A subresource that reads or changes the object itself: ephemeralcontainers, resize, approval, finalize. */
export interface SubresourceStrategy<T> {
  readonly verbs: readonly string[];
  readonly prepareForUpdate: (object: T, old: T, scope: RequestScope) => T | StatusError;
  readonly validateUpdate: (object: T, old: T) => readonly FieldError[];
}
