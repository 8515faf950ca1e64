import type { core } from '#api';
import type { ClusterObjects } from '../../framework/plugin.ts';
import type { StaticBinding } from './find-volumes.ts';

interface AssumedVolume {
  readonly volume: core.PersistentVolume;
  /** As the cluster showed it when the assumption was made. */
  readonly base: string | undefined;
}

/** Volumes including bindings that are not written yet: no volume may be assigned to two pods. */
export class AssumedVolumes {
  readonly #assumed = new Map<string, AssumedVolume>();

  constructor(private readonly objects: ClusterObjects) {}

  list(): readonly core.PersistentVolume[] {
    const volumes = this.objects.volumes.list();
    return this.#assumed.size === 0 ? volumes : volumes.map((volume) => this.#current(volume));
  }

  assume({ claim, volume }: StaticBinding): core.PersistentVolume {
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    };
    const annotations = { ...volume.metadata.annotations, 'pv.kubernetes.io/bound-by-controller': 'yes' };
    const assumed = {
      ...volume,
      metadata: { ...volume.metadata, annotations },
      spec: { ...volume.spec, claimRef },
    } as core.PersistentVolume;
    this.#assumed.set(volume.metadata.name, { volume: assumed, base: volume.metadata.resourceVersion });
    return assumed;
  }

  restore(name: string): void {
    this.#assumed.delete(name);
  }

  /** The informer's version wins once it is newer. */
  #current(volume: core.PersistentVolume): core.PersistentVolume {
    const assumed = this.#assumed.get(volume.metadata.name);
    if (assumed === undefined) return volume;
    if (assumed.base === volume.metadata.resourceVersion) return assumed.volume;
    this.#assumed.delete(volume.metadata.name);
    return volume;
  }
}
