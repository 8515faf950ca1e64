import { type core, quota } from '#api';
import { Quantity } from '#machinery';

/** Each pod's request of a resource, in thousandths; only the named container's if there is one. Throws when a request is missing. */
export function requestsOf(pods: readonly core.Pod[], resource: string, container: string): ReadonlyMap<string, number> {
  return new Map(pods.map((pod) => [pod.metadata.name, requestOf(pod, resource, container)]));
}

function requestOf(pod: core.Pod, resource: string, container: string): number {
  const hasOwnRequests = Object.keys(pod.spec?.resources?.requests ?? {}).some((name) => quota.isPodLevelResource(name));
  return hasOwnRequests && container === '' ? wholeRequest(pod, resource) : containerRequests(pod, resource, container);
}

function wholeRequest(pod: core.Pod, resource: string): number {
  const request = quota.podRequests(pod).get(resource);
  if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`);
  return request.milliValue();
}

function containerRequests({ metadata, spec }: core.Pod, resource: string, containerName: string): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const running = [...(spec?.containers ?? []), ...sidecars];
  const counted = containerName === '' ? running : running.filter(({ name }) => name === containerName).slice(0, 1);
  if (containerName !== '' && counted.length === 0) throw new Error(`container ${containerName} not found in Pod ${metadata.name}`);
  let sum = 0;
  for (const { name, resources } of counted) {
    const request = resources?.requests?.[resource];
    if (request === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
    sum += Quantity.parse(request).milliValue();
  }
  return sum;
}
