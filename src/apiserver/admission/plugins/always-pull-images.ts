import type { core } from '#api';
import { FieldError, Path } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, pluginForbiddenError } from './plugin-deps.ts';

const ALWAYS = 'Always';
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Sets the pull policy of every image, so that a pod only runs images that its own pull secrets give access to. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  admit: (attributes) => {
    const pod = attributes.object as core.Pod;
    return isIgnored(attributes) ? undefined : { ...pod, spec: pulled(pod.spec!) };
  },
  validate: (attributes) => {
    const problems = isIgnored(attributes) ? [] : otherPolicies((attributes.object as core.Pod).spec!);
    if (problems.length === 0) return;
    // Upstream joins Forbidden errors, and a joined error is no longer a Status.
    const texts = problems.map((problem) => pluginForbiddenError(attributes, String(problem)).message);
    throw new Error(texts.length === 1 ? texts[0] : `[${[...new Set(texts)].join(', ')}]`);
  },
};

function isIgnored(attributes: AdmissionAttributes): boolean {
  return !isAboutPods(attributes) || hasNoNewImage(attributes);
}

function hasNoNewImage({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return false;
  const old = new Set(containersOf((oldObject as core.Pod).spec!).map(({ image }) => image));
  return containersOf((object as core.Pod).spec!).every(({ image }) => old.has(image));
}

function containersOf(spec: core.PodSpec): readonly core.Container[] {
  return LISTS.flatMap((list) => (spec[list] ?? []) as readonly core.Container[]);
}

function pulled(spec: core.PodSpec): core.PodSpec {
  const containers = LISTS.filter((list) => spec[list] !== undefined).map((list) => {
    const policies = (spec[list] as readonly core.Container[]).map((container) => ({ ...container, imagePullPolicy: ALWAYS }));
    return [list, policies] as const;
  });
  const volumes = spec.volumes?.map((volume) => (volume.image ? { ...volume, image: { ...volume.image, pullPolicy: ALWAYS } } : volume));
  return { ...spec, ...Object.fromEntries(containers), ...(volumes && { volumes }) };
}

function otherPolicies(spec: core.PodSpec): readonly FieldError[] {
  const at = Path.of('spec');
  const containers = LISTS.flatMap((list) =>
    ((spec[list] ?? []) as readonly core.Container[]).map((container, i) => ({
      path: at.child(list).index(i).child('imagePullPolicy'),
      policy: container.imagePullPolicy,
    })),
  );
  const volumes = (spec.volumes ?? []).flatMap(({ image }, i) =>
    image ? [{ path: at.child('volumes').index(i).child('image').child('pullPolicy'), policy: image.pullPolicy }] : [],
  );
  return [...containers, ...volumes]
    .filter(({ policy }) => policy !== ALWAYS)
    .map(({ path, policy }) => FieldError.notSupported(path, policy ?? '', [ALWAYS]));
}
