import type { Clock, MaybePromise, Random } from '#base';
import type { GroupResource, JsonValue } from '#machinery';
import type { UserInfo } from '../../request/user.ts';
import type { CachedObject, VersionedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';
import type { WriteContext } from './lifecycle.ts';
import { internalResource } from './object-forms.ts';
import type { Reservation, StoredResource } from './served-resource.ts';

/**
 * A write to one object of a stored resource: the path that create, update, patch, apply and delete take for built-in and custom resources alike.
 * The order is: compute the object, `admit`, reserve what must be unique, prepare and validate, `validate`, store. Handlers decode the request and
 * respond; admission takes part through the two callbacks.
 */
export interface ObjectWrite {
  readonly resource: StoredResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly clock: Clock;
  readonly random: Random;
  /** The document that the object was decoded from, for errors. */
  readonly document?: () => JsonValue | undefined;
  /** Sends a warning with the response. */
  warn(message: string): void;
  /** Returns the object as changed by admission. Throws if it is rejected. */
  admit(request: AdmissionRequest): MaybePromise<unknown>;
  validate(request: AdmissionRequest): MaybePromise<void>;
}

/** If a step took longer, the event loop gets a turn before the next one. */
export const STEP_MS = 50;

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions and so on, as sent. */
  readonly options: unknown;
  /** For generated names. */
  readonly name?: string;
}

/** Options of all writes. */
export interface CommonOptions {
  readonly dryRun: boolean;
  /** As sent, for admission. */
  readonly raw: unknown;
}

export function groupResourceOf({ resource }: ObjectWrite): GroupResource {
  return { group: resource.group, resource: resource.resource };
}

export function writeContext({ resource, subresource, namespace, user, clock, random, document }: ObjectWrite): WriteContext {
  return {
    resource: internalResource(resource),
    subresource,
    namespace,
    scope: { user, now: clock.now(), features: resource.features },
    random,
    clock,
    document,
  };
}

/** The object in the served version, possibly converted by webhook. */
export async function inVersion(resource: StoredResource, object: CachedObject): Promise<VersionedObject> {
  if (resource.remote !== undefined) await loadVersions(resource, [object]);
  return object.as(resource);
}

/**
 * Runs `store` with the reserved object. Releases the reservation if that throws or resolves to undefined (conflict); otherwise releases
 * what the old object no longer uses.
 */
export async function withReservation<T>(
  reserving: MaybePromise<Reservation> | undefined,
  dryRun: boolean,
  store: (reserved: KubeObject | undefined) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (reserving === undefined) return store(undefined);
  const reservation = await reserving;
  try {
    const stored = await store(reservation.object);
    if (stored === undefined) await reservation.release();
    else if (!dryRun) await reservation.commit();
    return stored;
  } catch (error) {
    await reservation.release();
    throw error;
  }
}
