import { core } from '#api';

const CLAIM_INDEX = 'claim';

function claimKeys(pod: core.Pod): readonly string[] {
  return core.volumeClaimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`);
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
