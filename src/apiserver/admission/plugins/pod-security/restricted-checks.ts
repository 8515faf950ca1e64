import { procMount, seccompProfile } from './baseline-checks.ts';
import {
  containersOf,
  containersText,
  exemptWhen,
  hasUserNamespace,
  isWindows,
  namesOf,
  type PodCheck,
  plural,
  quoted,
  type SecurityCheck,
  settersText,
  sortedSet,
} from './pod-check.ts';

const allowPrivilegeEscalation: PodCheck = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  const detail = `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
};

const capabilities: PodCheck = (pod) => {
  const keeping = namesOf(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const added = containersOf(pod).map(({ name, securityContext }) => {
    return { name, extra: (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE') };
  });
  const adding = added.filter(({ extra }) => extra.length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const names = containersText(adding.map(({ name }) => name));
    const extra = quoted(sortedSet(adding.flatMap((container) => container.extra)));
    details.push(`${names} must not include ${extra} in securityContext.capabilities.add`);
  }
  return details.length > 0 ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined;
};

const VOLUME_TYPES: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const restrictedVolumes: PodCheck = ({ spec }) => {
  const typeOf = (volume: object) => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUME_TYPES.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map(typeOf));
  const names = `${plural(bad, 'volume')} ${quoted(bad.map(({ name }) => name))}`;
  const detail = `${names} ${plural(bad, 'uses', 'use')} ${plural(types, 'restricted volume type')} ${quoted(types)}`;
  return { reason: 'restricted volume types', detail };
};

const runAsNonRoot: PodCheck = (pod) => {
  const reason = 'runAsNonRoot != true';
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const explicit = namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  const setters = settersText(ofPod === false, explicit);
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const silent = ofPod ? [] : namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: PodCheck = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  const setters = settersText(pod.spec.securityContext?.runAsUser === 0, names);
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
};

const seccompProfileSet: PodCheck = (pod) => {
  const wrong = seccompProfile(pod);
  if (wrong !== undefined) return wrong;
  const isSet = pod.spec.securityContext?.seccompProfile !== undefined;
  const silent = isSet ? [] : namesOf(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  const requirement = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${containersText(silent)} ${requirement}` };
};

/** The checks of level `restricted` beyond `baseline`, in the order in which violations are reported. */
export const RESTRICTED_CHECKS: readonly SecurityCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: exemptWhen(isWindows, allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    overrides: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: exemptWhen(isWindows, capabilities) },
    ],
  },
  { id: 'procMount_restricted', overrides: 'procMount', versions: [{ since: 35, check: procMount }] },
  { id: 'restrictedVolumes', overrides: 'hostPathVolumes', versions: [{ since: 0, check: restrictedVolumes }] },
  {
    id: 'runAsNonRoot',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: exemptWhen(hasUserNamespace, runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: exemptWhen(hasUserNamespace, runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    overrides: 'seccompProfile_baseline',
    versions: [
      { since: 19, check: seccompProfileSet },
      { since: 25, check: exemptWhen(isWindows, seccompProfileSet) },
    ],
  },
];
