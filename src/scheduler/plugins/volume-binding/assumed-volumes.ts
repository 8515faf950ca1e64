import type { core } from '#api';
import type { ClusterObjects } from '../../framework/plugin.ts';
import { volumesFor } from '../../framework/volume-claims.ts';
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

  /** The volumes that the claims may be bound to, on any node. */
  candidatesFor(claims: readonly core.PersistentVolumeClaim[]): readonly core.PersistentVolume[] {
    const volumes = new Set(claims.flatMap((claim) => volumesFor(claim, this.objects)));
    return [...volumes].map((volume) => this.#current(volume));
  }

  assume({ claim, volume }: StaticBinding): core.PersistentVolume {
    this.#prune();
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

  #current(volume: core.PersistentVolume): core.PersistentVolume {
    const assumed = this.#assumed.get(volume.metadata.name);
    return assumed !== undefined && assumed.base === volume.metadata.resourceVersion ? assumed.volume : volume;
  }

  /** The informer's version wins once it is newer. */
  #prune(): void {
    for (const [name, { base }] of this.#assumed)
      if (this.objects.volumes.get({ name })?.metadata.resourceVersion !== base) this.#assumed.delete(name);
  }
}
