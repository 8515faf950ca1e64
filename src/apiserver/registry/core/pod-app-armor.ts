import { core } from '#api';

type AppArmorProfile = core.AppArmorProfile;
type PodSpec = core.PodSpec;

const LOCALHOST = 'localhost/';
const MAX_PROFILE_LENGTH = 4095;

/** Copies AppArmor annotations to fields, which nodes read. */
export function withAppArmorFields(spec: PodSpec, annotations: Readonly<Record<string, string>> | undefined): PodSpec {
  if (!annotations || spec.os?.name === 'windows') return spec;
  if (!Object.keys(annotations).some((key) => key.startsWith(core.APPARMOR_CONTAINER_PREFIX))) return spec;
  const podProfile = spec.securityContext?.appArmorProfile;
  const convert = (container: core.Container): core.Container => {
    const profile = profileOf(annotations[core.APPARMOR_CONTAINER_PREFIX + container.name]);
    if (!profile || container.securityContext?.appArmorProfile || sameProfile(profile, podProfile)) return container;
    return { ...container, securityContext: { ...container.securityContext, appArmorProfile: profile } };
  };
  return {
    ...spec,
    containers: (spec.containers ?? []).map(convert),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(convert) }),
  };
}

function profileOf(annotation: string | undefined): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation?.startsWith(LOCALHOST)) return undefined;
  const localhostProfile = annotation.slice(LOCALHOST.length);
  const isValid = localhostProfile !== '' && localhostProfile.trim() === localhostProfile && localhostProfile.length <= MAX_PROFILE_LENGTH;
  return isValid ? { type: 'Localhost', localhostProfile } : undefined;
}

function sameProfile(a: AppArmorProfile, b: AppArmorProfile | undefined): boolean {
  return a.type === b?.type && a.localhostProfile === b.localhostProfile;
}
