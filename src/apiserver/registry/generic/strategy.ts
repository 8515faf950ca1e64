import type { KindBehaviour } from '#api';
import type { FieldError, StatusError } from '#machinery';
import type { UserInfo } from '../../request/user.ts';
import type { StoredVersion } from '../../storage-format/storage-format.ts';
import type { ScaleFields } from './scale-fields.ts';

/** `Unsupported`: objects of the kind have no dependents; the client's propagation policy is ignored. */
export type Propagation = 'Background' | 'Orphan' | 'Unsupported';

/** What a strategy may use besides the object: user, time, and the features of the server. */
export interface RequestScope {
  readonly user: UserInfo;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Gates that are on, of those that are off by default. Default: none. */
  readonly features?: ReadonlySet<string> | undefined;
}

/**
 * How the server stores objects of one kind, on top of the kind's behaviour in `api/`. All functions are pure. Defaults follow the
 * common pattern: with a `status` subresource, create clears status, an update of the main resource keeps the old status, an update of status
 * keeps everything else; generation starts at 1 and is incremented when spec changes (`tracksGeneration`).
 */
export interface ResourceStrategy<T> extends KindBehaviour<T> {
  /** The key prefix after `/registry/`, as upstream uses it. Default: the resource's name. */
  readonly location?: string;
  /** Annotations that upstream's internal version has as fields: metadata alone is printed without them. */
  readonly internalAnnotations?: readonly string[];
  /** Upstream's storage version, if it is not the internal one. */
  readonly storedVersion?: string;
  /** Versions that are stored, but not served. */
  readonly storedForms?: readonly StoredVersion[];
  /** Stored as JSON even if others are stored as protobuf, as upstream. */
  readonly storedAsJson?: boolean;
  /** False: the server handles requests for the kind without storing objects (reviews). Default true. */
  readonly isStored?: boolean;
  /** Thousands of objects share one spec (pods of a workload): see recurring-specs.ts. */
  readonly specsRecur?: boolean;
  /** The group in validation errors, for a kind that is validated as one of another group (events). */
  readonly invalidGroup?: string;
  /** Verbs, in discovery's order. Default: create, delete, deletecollection, get, list, patch, update, watch. */
  readonly verbs?: readonly string[];
  /** Sent as a warning with every response of this resource. */
  readonly deprecation?: string;
  /** PUT of a missing object creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** generateName is used without a random suffix: the name is meaningful (addresses). */
  readonly namedByBase?: boolean;
  /** Has a status subresource (and the common pattern with it). */
  readonly hasStatus?: boolean;
  readonly tracksGeneration?: boolean;
  /** Has a scale subresource. */
  readonly scale?: ScaleFields;
  /** Conversion errors: upstream converts some annotations to fields of other versions. */
  readonly conversionError?: (object: T) => string | undefined;
  /** Unnamed objects get a generated name. */
  readonly namesUnnamed?: boolean;
  readonly prepareForCreate?: (object: T, scope: RequestScope) => T;
  readonly prepareForUpdate?: (object: T, old: T, scope: RequestScope) => T;
  /** Normalizes a valid object before it is stored. */
  readonly canonicalize?: (object: T) => T;
  /** Warnings about a status update. */
  readonly statusWarnings?: (object: T) => readonly string[];
  readonly prepareForStatusUpdate?: (object: T, old: T, scope: RequestScope) => T;
  /** The error for an unknown field label; the text differs between kinds. */
  readonly fieldLabelError?: (field: string) => string;
  /** The grace period of a deletion in seconds (pods); 0 deletes immediately. */
  readonly gracePeriodSeconds?: (object: T, requested: number | undefined) => number;
  /** Changes the object when its deletion starts. */
  readonly prepareForDelete?: (object: T) => T;
  /** Whether something besides finalizers and the grace period holds a deleted object: a namespace's content. */
  readonly isDeletionHeld?: (object: T) => boolean;
  /** The propagation policy if none is requested: background, orphan for older kinds (Job). */
  readonly defaultPropagation?: Propagation;
  /** Preconditions of deletions have errors of their own, which name the resource (namespaces, definitions). */
  readonly checksOwnPreconditions?: boolean;
  /** Deletion returns the object instead of a Status. */
  readonly returnsDeletedObject?: boolean;
  readonly deletionWarnings?: (
    object: T,
    options: { propagationPolicy?: string | undefined; orphanDependents?: boolean | undefined },
  ) => readonly string[];
  /** Field paths that a write to this (sub)resource does not own in server-side apply, by subresource ('' is the main one). */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>;
  /** The lifetime of expiring objects (events). */
  readonly ttlSeconds?: number;
}

/** A subresource that reads or changes the object itself: ephemeralcontainers, resize, approval, finalize. */
export interface SubresourceStrategy<T> {
  readonly verbs: readonly string[];
  readonly prepareForUpdate: (object: T, old: T, scope: RequestScope) => T | StatusError;
  readonly validateUpdate: (object: T, old: T) => readonly FieldError[];
}
