import { createHash } from 'node:crypto';
import { core } from '#api';
import { decodeObject, formatTime, isJsonObject, type JsonObject, parseYaml } from '#machinery';
import { apiReference } from './api-reference.ts';

/** The source of a manifest. */
export interface ManifestOrigin {
  readonly source: 'file' | 'http';
  /** File path or URL. */
  readonly place: string;
  readonly nodeName: string;
  readonly nowMs: number;
}

export const CONFIG_HASH = 'kubernetes.io/config.hash';
export const CONFIG_MIRROR = core.MIRROR_POD_ANNOTATION;
const CONFIG_SOURCE = 'kubernetes.io/config.source';
const CONFIG_SEEN = 'kubernetes.io/config.seen';

/** The pods of a manifest for this node: one pod, or a list from a URL. Throws an Error with upstream's text. */
export function decodeManifest(text: string, origin: ManifestOrigin): readonly core.Pod[] {
  const { value } = parseYaml(text);
  if (!isJsonObject(value)) throw new Error("couldn't parse as pod: not an object");
  if (value.kind === 'PodList' && origin.source === 'http' && Array.isArray(value.items))
    return value.items.map((item) => decodePod({ kind: 'Pod', apiVersion: 'v1', ...(item as JsonObject) }, origin));
  return [decodePod(value, origin)];
}

function decodePod(value: JsonObject, origin: ManifestOrigin): core.Pod {
  if (value.kind !== 'Pod' || value.apiVersion !== 'v1')
    throw new Error(`invalid pod: no pod of v1, but ${value.kind} of ${value.apiVersion}`);
  const { object, error } = decodeObject(core.Pod, value);
  if (error !== undefined) throw new Error(`couldn't parse as pod: ${error}`);
  const manifest = object as unknown as core.Pod;
  if (!manifest.metadata?.name) throw new Error('invalid pod: name is needed for the pod');
  const pod = ofNode(core.podBehaviour.defaults?.(manifest) ?? manifest, value, origin);
  const problems = core.podBehaviour.validate?.(pod) ?? [];
  if (problems.length > 0) throw new Error(`invalid pod: [${problems.join(', ')}]`);
  const reference = apiReference(pod);
  if (reference !== undefined) throw new Error(`static pods may not reference ${reference}`);
  return pod;
}

/** Named after the node, with a uid derived from the manifest's content: a changed manifest is another pod. */
function ofNode(pod: core.Pod, written: JsonObject, { source, place, nodeName, nowMs }: ManifestOrigin): core.Pod {
  const where = source === 'file' ? `host:${nodeName}file:${place}` : `url:${place}`;
  const hash = createHash('sha256').update(JSON.stringify(written)).update(where).digest('hex').slice(0, 32);
  const uid = pod.metadata.uid || hash;
  const annotations = { ...pod.metadata.annotations, [CONFIG_HASH]: uid, [CONFIG_SEEN]: formatTime(nowMs), [CONFIG_SOURCE]: source };
  const metadata = {
    ...pod.metadata,
    ...{ name: `${pod.metadata.name}-${nodeName.toLowerCase()}`, namespace: pod.metadata.namespace || 'default', uid, annotations },
    creationTimestamp: formatTime(nowMs),
  };
  const tolerations = [...(pod.spec?.tolerations ?? []), ...(source === 'file' ? [{ operator: 'Exists', effect: 'NoExecute' }] : [])];
  const spec = { ...pod.spec, nodeName, ...(tolerations.length > 0 && { tolerations }) } as core.PodSpec;
  return { ...pod, metadata, spec, status: { phase: 'Pending', qosClass: core.computePodQOS(spec) } };
}

export function isMirror({ metadata }: core.Pod): boolean {
  return metadata.annotations?.[CONFIG_MIRROR] !== undefined;
}
