import { apps, core, type meta } from '#api';
import { type Client, type DiscoveredResource, discoverVersion } from '#client';
import { groupResourceText, parseGroupVersion } from '#machinery';
import type { ControllerContext } from '../runtime/controller.ts';
import { controllerOf } from '../runtime/controller-ref.ts';
import { isGone } from '../runtime/keyed-controller.ts';

interface OwnerScale {
  readonly uid: string;
  readonly replicas: number;
}

/** The desired replicas of these pods' controllers, and the pods without one. */
export async function expectedScale(pods: readonly core.Pod[], context: ControllerContext) {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const reference = controllerOf(pod);
    if (reference === undefined) unmanaged.push(pod.metadata.name);
    else if (!seen.has(reference.uid)) {
      seen.add(reference.uid);
      const { uid, replicas } = await ownerScale(reference, pod, context);
      scales.set(uid, replicas);
    }
  }
  return { count: [...scales.values()].reduce((sum, count) => sum + count, 0), unmanaged };
}

async function ownerScale(reference: meta.OwnerReference, pod: core.Pod, context: ControllerContext): Promise<OwnerScale> {
  const { namespace } = pod.metadata;
  const scale = cachedScale(reference, namespace, context) ?? (await scaleByApi(reference, namespace, context));
  if (scale === undefined) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
  return scale;
}

function cachedScale(
  reference: meta.OwnerReference,
  namespace: string | undefined,
  { informers }: ControllerContext,
): OwnerScale | undefined {
  const key = { name: reference.name, namespace };
  const owner = isKind(reference, 'apps', 'ReplicaSet') ? informers.of(apps.ReplicaSet).lister.get(key) : undefined;
  const deployment = owner && controllerOf(owner);
  if (deployment && isKind(deployment, 'apps', 'Deployment')) return cachedScale(deployment, namespace, { informers } as ControllerContext);
  const object =
    owner ??
    (isKind(reference, 'apps', 'Deployment') ? informers.of(apps.Deployment).lister.get(key) : undefined) ??
    (isKind(reference, 'apps', 'StatefulSet') ? informers.of(apps.StatefulSet).lister.get(key) : undefined) ??
    (isKind(reference, '', 'ReplicationController') ? informers.of(core.ReplicationController).lister.get(key) : undefined);
  if (object === undefined || object.metadata.uid !== reference.uid) return undefined;
  return { uid: reference.uid, replicas: object.spec?.replicas ?? 1 };
}

function isKind({ apiVersion, kind }: meta.OwnerReference, group: string, expectedKind: string): boolean {
  return kind === expectedKind && (parseGroupVersion(apiVersion)?.group ?? '') === group;
}

/** Other kinds of owners are read through their scale subresource. Undefined when the owner does not exist. */
async function scaleByApi(reference: meta.OwnerReference, namespace: string | undefined, { client, signal }: ControllerContext) {
  const resource = await resourceOf(reference, client, signal);
  if (!resource.subresources.includes('scale')) throw new Error(`${groupResourceText(resource)} does not implement the scale subresource`);
  const scales = client.resource(resource).subresource<{ spec?: { replicas?: number }; metadata: { uid?: string } }>('scale');
  try {
    const scale = await scales.get({ name: reference.name, namespace });
    return scale.metadata.uid === reference.uid ? { uid: reference.uid, replicas: scale.spec?.replicas ?? 0 } : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function resourceOf({ apiVersion, kind }: meta.OwnerReference, client: Client, signal: AbortSignal): Promise<DiscoveredResource> {
  const resources = await discoverVersion(client.transport, parseGroupVersion(apiVersion), signal).catch((error: unknown) => {
    if (isGone(error)) return [];
    throw error;
  });
  const match = resources.find((resource) => resource.kind === kind);
  if (match === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  return match;
}
