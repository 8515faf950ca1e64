import { core } from '#api';
import type { Lister } from '#client';
import { deepEqual, Selector } from '#machinery';
import type { ControllerContext } from '../controller.ts';

/** Watches services and their pods, and reports the keys of services whose endpoints may have changed. */
export function followSelectedPods({ informers }: ControllerContext, changed: (service: core.Service) => void): SelectedPods {
  const services = informers.of(core.Service);
  const pods = informers.of(core.Pod);
  const tell = (pod: core.Pod) => {
    for (const service of services.lister.list(pod.metadata.namespace)) if (selects(service, pod)) changed(service);
  };
  services.addHandler({ add: changed, update: (_, service) => changed(service), delete: changed });
  pods.addHandler({
    add: tell,
    delete: tell,
    update: (before, pod) => {
      if (!deepEqual(before.metadata.labels, pod.metadata.labels)) tell(before);
      if (!isSameEndpoint(before, pod)) tell(pod);
    },
  });
  return {
    services: services.lister,
    of: (service) => pods.lister.list(service.metadata.namespace).filter((pod) => selects(service, pod)),
  };
}

export interface SelectedPods {
  readonly services: Lister<core.Service>;
  of(service: core.Service): readonly core.Pod[];
}

export function selects({ spec }: core.Service, { metadata }: core.Pod): boolean {
  return spec?.selector !== undefined && spec.selector !== null && Selector.fromLabels(spec.selector).matches(metadata.labels);
}

/** Most changes of a pod do not affect its endpoint. */
function isSameEndpoint(a: core.Pod, b: core.Pod): boolean {
  const ready = (pod: core.Pod) => pod.status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
  return (
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.status?.phase === b.status?.phase &&
    deepEqual(a.status?.podIPs, b.status?.podIPs) &&
    deepEqual(ready(a), ready(b)) &&
    deepEqual(a.metadata.labels, b.metadata.labels) &&
    a.spec?.nodeName === b.spec?.nodeName &&
    a.spec?.hostname === b.spec?.hostname
  );
}
