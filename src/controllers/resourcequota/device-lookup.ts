import { core, type quota, resource } from '#api';
import type { InformerFactory, SharedInformer } from '#client';
import { controllerOf } from '../runtime/controller-ref.ts';

const EXTENDED_RESOURCE_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';
const BY_EXTENDED_RESOURCE = 'extendedResource';

const extendedResource = ({ spec }: resource.DeviceClass) => (spec?.extendedResourceName ? [spec.extendedResourceName] : []);

/** Device classes and pods of claims, from informers that start when the first quota needs them. */
export class InformedDeviceLookup implements quota.DeviceLookup {
  readonly #classes: SharedInformer<resource.DeviceClass>;
  readonly #pods: SharedInformer<core.Pod>;

  constructor(
    informers: InformerFactory,
    private readonly usage: (pod: core.Pod) => quota.Amounts,
  ) {
    this.#classes = informers.of(resource.DeviceClass).addIndex(BY_EXTENDED_RESOURCE, extendedResource);
    this.#pods = informers.of(core.Pod);
  }

  extendedResourceOf(deviceClass: string): string | undefined {
    return this.#classes.lister.get({ name: deviceClass })?.spec?.extendedResourceName;
  }

  deviceClassOf(name: string): string | undefined {
    return this.#classes.lister.byIndex(BY_EXTENDED_RESOURCE, name)[0]?.metadata.name;
  }

  podUsageFor(claim: resource.ResourceClaim): quota.Amounts | undefined {
    const owner = controllerOf(claim);
    if (claim.metadata.annotations?.[EXTENDED_RESOURCE_ANNOTATION] !== 'true' || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1')
      return undefined;
    const pod = this.#pods.lister.get({ name: owner.name, namespace: claim.metadata.namespace });
    if (pod === undefined || pod.metadata.uid !== owner.uid) return undefined;
    const named = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
    return named === undefined || named === claim.metadata.name ? this.usage(pod) : undefined;
  }
}
