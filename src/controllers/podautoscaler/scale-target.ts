import type { autoscaling, autoscalingV2 } from '#api';
import { type Clock, type Random, retry } from '#base';
import type { Client, DiscoveredResource, SubresourceClient } from '#client';
import { isStatusReason, parseGroupVersion } from '#machinery';
import type { ResourceLookup } from './resource-lookup.ts';

export interface ScaleTargetDeps {
  readonly client: Client;
  readonly lookup: ResourceLookup;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** The target of an autoscaler and its scale. */
export interface ScaleTarget {
  readonly resource: DiscoveredResource;
  readonly scale: autoscaling.Scale;
}

export interface TargetKey {
  readonly reference: autoscalingV2.CrossVersionObjectReference;
  readonly namespace: string;
}

const ATTEMPTS = 5;

/** Throws when the target does not exist, or has no scale subresource. */
export async function readTarget({ reference, namespace }: TargetKey, { client, lookup }: ScaleTargetDeps): Promise<ScaleTarget> {
  const { group } = parseGroupVersion(reference.apiVersion ?? '');
  // Any version will do: all versions have the same scale.
  const resource = await lookup.find({ group, kind: reference.kind });
  const scale = await scalesOf(client, resource).get({ name: reference.name, namespace });
  return { resource, scale };
}

export async function resize({ resource, scale }: ScaleTarget, replicas: number, deps: ScaleTargetDeps): Promise<void> {
  const { client, clock, random, signal } = deps;
  const scales = scalesOf(client, resource);
  const { name, namespace } = scale.metadata ?? {};
  const key = { name: name ?? '', namespace };
  const backoff = { initialMs: 10, factor: 1, jitter: 0.1 };
  const retryOn = (error: unknown) => isStatusReason(error, 'Conflict');
  await retry({ clock, random, backoff, attempts: ATTEMPTS, retryOn, signal }, async (attempt) => {
    const latest = attempt === 0 ? scale : await scales.get(key);
    await scales.update(key, { ...latest, spec: { ...latest.spec, replicas } });
  });
}

function scalesOf(client: Client, resource: DiscoveredResource): SubresourceClient<autoscaling.Scale> {
  return client.resource(resource).subresource<autoscaling.Scale>('scale');
}
