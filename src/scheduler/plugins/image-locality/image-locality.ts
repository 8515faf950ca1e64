import { normalizedImageName } from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP } from '../../framework/status.ts';

const NAME = 'ImageLocality';
const MEGABYTE = 1024 * 1024;
const LEAST_SIZE = 23 * MEGABYTE;
const MOST_SIZE_A_CONTAINER = 1000 * MEGABYTE;

interface PodImages {
  readonly images: readonly { readonly name: string; readonly spread: number }[];
  readonly most: number;
}

/** Prefers nodes that have the pod's images, weighted by how many nodes have them: pods must not concentrate on one. */
export function imageLocality(): Plugin {
  return {
    name: NAME,
    preScore(state, pod, { snapshot }) {
      const names = imageNames(pod);
      const total = snapshot.nodes.length;
      const images = names.map((name) => ({ name, spread: snapshot.nodesWithImage(name) / total })).filter(({ spread }) => spread > 0);
      if (images.length === 0) return SKIP;
      state.write(NAME, { images, most: MOST_SIZE_A_CONTAINER * names.length } satisfies PodImages);
      return undefined;
    },
    score(state, _, node) {
      const { images, most } = state.read<PodImages>(NAME)!;
      let sum = 0;
      for (const { name, spread } of images) sum += Math.trunc((node.images.get(name) ?? 0) * spread);
      const size = Math.min(Math.max(sum, LEAST_SIZE), most);
      return Math.trunc((MAX_SCORE * (size - LEAST_SIZE)) / (most - LEAST_SIZE));
    },
  };
}

function imageNames({ pod }: PodInfo): string[] {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return containers.map(({ image }) => normalizedImageName(image ?? ''));
}
