import { core } from '#api';
import type { Lister } from '#client';
import { deepEqual, Selector } from '#machinery';
import type { ControllerContext } from '../controller.ts';
import type { KeyedController } from '../keyed-controller.ts';

/** Watches services and their pods, and enqueues the services whose endpoints may have changed. */
export function followSelectedPods({ informers }: ControllerContext, controller: KeyedController): SelectedPods {
  const services = informers.of(core.Service);
  const pods = informers.of(core.Pod);
  const enqueueServices = (pod: core.Pod) => {
    const { namespace } = pod.metadata;
    for (const service of services.lister.list(namespace)) {
      if (selectsPod(service, pod)) controller.enqueueCoalesced(service, pods.lister.count(namespace));
    }
  };
  services.addHandler(controller.handler());
  pods.addHandler({
    add: enqueueServices,
    delete: enqueueServices,
    update: (before, pod) => {
      if (!deepEqual(before.metadata.labels, pod.metadata.labels)) enqueueServices(before);
      if (!isSameEndpoint(before, pod)) enqueueServices(pod);
    },
  });
  return {
    services: services.lister,
    of: ({ spec, metadata }) => {
      const selector = spec?.selector && Selector.fromLabels(spec.selector);
      return selector ? pods.lister.list(metadata.namespace).filter((pod) => selector.matches(pod.metadata.labels)) : [];
    },
  };
}

export interface SelectedPods {
  readonly services: Lister<core.Service>;
  of(service: core.Service): readonly core.Pod[];
}

export function selectsPod({ spec }: core.Service, { metadata }: core.Pod): boolean {
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
