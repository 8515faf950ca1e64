import type { core } from '#api';

/** The name of the claim that stands for an ephemeral volume of a pod. */
export function ephemeralClaimName({ metadata }: core.Pod, volume: core.Volume): string {
  return `${metadata.name}-${volume.name}`;
}

/** The names of the claims that a pod's volumes are about, those that are made for ephemeral volumes included. */
export function claimNamesOf(pod: core.Pod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral ? [ephemeralClaimName(pod, volume)] : [];
  });
}

const CLAIM_INDEX = 'claim';

function claimKeys(pod: core.Pod): readonly string[] {
  return claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`);
}

interface IndexedPods {
  addIndex(name: string, valuesOf: (pod: core.Pod) => readonly string[]): unknown;
  readonly lister: { byIndex(name: string, value: string): readonly core.Pod[] };
}

/** Finds the pods whose volumes name a claim, by its key. */
export function podsByClaim(informer: IndexedPods): (claimKey: string) => readonly core.Pod[] {
  informer.addIndex(CLAIM_INDEX, claimKeys);
  return (key) => informer.lister.byIndex(CLAIM_INDEX, key);
}
