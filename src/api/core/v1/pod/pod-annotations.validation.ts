import { goQuote } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import type { AppArmorProfile, SeccompProfile } from '../container/security-context.ts';
import { validateDescendingPath } from '../volume/local-path.validation.ts';
import {
  APPARMOR_CONTAINER_PREFIX,
  MIRROR_POD_ANNOTATION,
  POD_DELETION_COST_ANNOTATION,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD_ANNOTATION,
  TOLERATIONS_ANNOTATION,
} from './pod-annotations.ts';
import type { PodSpec } from './pod-spec.ts';
import { containersOf } from './pod-spec.validation.ts';
import type { Toleration } from './toleration.ts';
import { validateTolerations } from './toleration.validation.ts';

type Annotations = Readonly<Record<string, string>>;

const DELETION_COST = /^(?:0|-\d+|[1-9]\d*)$/;
const LOCALHOST = 'localhost/';

/** Pod and template annotations with a meaning to the API. */
export function validatePodAnnotations(annotations: Annotations | undefined, at: FieldReport, spec: PodSpec): void {
  if (!annotations) return;
  const mirror = annotations[MIRROR_POD_ANNOTATION];
  if (mirror !== undefined && !spec.nodeName) {
    at.key(MIRROR_POD_ANNOTATION).invalid(mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  const tolerations = annotations[TOLERATIONS_ANNOTATION];
  if (tolerations) validateTolerationsAnnotation(tolerations, at);
  validateDeletionCost(annotations[POD_DELETION_COST_ANNOTATION], at);
  validateSeccompAnnotations(annotations, at);
  validateAppArmorAnnotations(annotations, at, spec);
}

function validateTolerationsAnnotation(text: string, at: FieldReport): void {
  let tolerations: unknown;
  try {
    tolerations = JSON.parse(text);
  } catch (error) {
    at.invalid(TOLERATIONS_ANNOTATION, (error as Error).message);
    return;
  }
  if (Array.isArray(tolerations)) validateTolerations(tolerations as Toleration[], at.child(TOLERATIONS_ANNOTATION));
  else if (tolerations !== null) at.invalid(TOLERATIONS_ANNOTATION, 'json: cannot unmarshal value into Go value of type []core.Toleration');
}

function validateDeletionCost(cost: string | undefined, at: FieldReport): void {
  if (cost === undefined) return;
  const isInt32 = DELETION_COST.test(cost) && cost.length <= 11 && Number(cost) === (Number(cost) | 0);
  if (!isInt32) at.key(POD_DELETION_COST_ANNOTATION).invalid(cost, 'must be a 32bit integer');
}

function validateSeccompAnnotations(annotations: Annotations, at: FieldReport): void {
  const pod = annotations[SECCOMP_POD_ANNOTATION];
  if (pod !== undefined) validateSeccompName(pod, at.child(SECCOMP_POD_ANNOTATION));
  for (const key in annotations) {
    if (key.startsWith(SECCOMP_CONTAINER_PREFIX)) validateSeccompName(annotations[key] ?? '', at.child(key));
  }
}

function validateSeccompName(profile: string, at: FieldReport): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith(LOCALHOST)) validateDescendingPath(profile.slice(LOCALHOST.length), at);
  else at.invalid(profile, 'must be a valid seccomp profile');
}

function validateAppArmorAnnotations(annotations: Annotations, at: FieldReport, spec: PodSpec): void {
  for (const key in annotations) {
    if (!key.startsWith(APPARMOR_CONTAINER_PREFIX)) continue;
    const container = key.slice(APPARMOR_CONTAINER_PREFIX.length);
    if (!hasContainer(spec, container)) at.key(key).invalid(container, 'container not found');
    const profile = annotations[key] ?? '';
    if (profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith(LOCALHOST)) continue;
    at.key(key).invalid(profile, `invalid AppArmor profile name: ${goQuote(profile)}`);
  }
}

function hasContainer({ initContainers, containers, ephemeralContainers }: PodSpec, name: string): boolean {
  return [initContainers, containers, ephemeralContainers].some((list) => list?.some((container) => container.name === name));
}

/** Annotations that the kubelet relies on are immutable. */
export function validatePodAnnotationUpdate(meta: ObjectMeta, old: ObjectMeta, { at, spec }: { at: FieldReport; spec: PodSpec }): void {
  const now = meta.annotations ?? {};
  const before = old.annotations ?? {};
  for (const key in before) {
    if (now[key] === before[key]) continue;
    if (key.startsWith(APPARMOR_CONTAINER_PREFIX)) at.key(key).forbidden('may not remove or update AppArmor annotations');
    if (key === MIRROR_POD_ANNOTATION) at.key(key).forbidden('may not remove or update mirror pod annotation');
  }
  for (const key in now) {
    if (before[key] !== undefined) continue;
    if (key.startsWith(APPARMOR_CONTAINER_PREFIX)) at.key(key).forbidden('may not add AppArmor annotations');
    if (key === MIRROR_POD_ANNOTATION) at.key(key).forbidden('may not add mirror pod annotation');
  }
  validatePodAnnotations(meta.annotations, at, spec);
}

/** Profiles in both annotation and field must be equal. */
export function validateProfilesMatch(annotations: Annotations | undefined, at: FieldReport, spec: PodSpec): void {
  if (!annotations) return;
  const podSeccomp = annotations[SECCOMP_POD_ANNOTATION];
  const podProfile = spec.securityContext?.seccompProfile;
  if (podProfile && podSeccomp !== undefined) {
    validateProfileMatches(podProfile, at.child('securityContext').child('seccompProfile'), { name: podSeccomp, type: 'seccomp' });
  }
  const visit = containersOf(spec, at);
  visit(({ name, securityContext }, field) => {
    const annotation = annotations[SECCOMP_CONTAINER_PREFIX + name];
    const profile = securityContext?.seccompProfile;
    if (!profile || annotation === undefined) return;
    validateProfileMatches(profile, field().child('securityContext').child('seccompProfile'), { name: annotation, type: 'seccomp' });
  });
  if (spec.os?.name === 'windows') return;
  visit(({ name, securityContext }, field) => {
    const annotation = annotations[APPARMOR_CONTAINER_PREFIX + name];
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    if (!profile || annotation === undefined) return;
    validateProfileMatches(profile, field().child('securityContext').child('appArmorProfile'), { name: annotation, type: 'apparmor' });
  });
}

interface NamedProfile {
  readonly name: string;
  readonly type: 'seccomp' | 'apparmor';
}

function validateProfileMatches(profile: SeccompProfile | AppArmorProfile, at: FieldReport, { name, type }: NamedProfile): void {
  const mismatch = () => at.child('type').forbidden(`${type} type in annotation and field must match`);
  const isDefault = name === 'runtime/default' || (type === 'seccomp' && name === 'docker/default');
  if (profile.type === 'Unconfined' && name !== 'unconfined') mismatch();
  if (profile.type === 'RuntimeDefault' && !isDefault) mismatch();
  if (profile.type !== 'Localhost') return;
  if (!name.startsWith(LOCALHOST)) mismatch();
  else if (name.slice(LOCALHOST.length) !== profile.localhostProfile) {
    at.child('localhostProfile').forbidden(`${type} profile in annotation and field must match`);
  }
}
