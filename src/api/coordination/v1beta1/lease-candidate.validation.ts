import { checkConfigMapKey, FieldError, Path } from '#machinery';
import { immutable, notEmpty } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { compareSemanticVersions, parseSemanticVersion, type SemanticVersion } from '../../semantic-version.ts';
import { validateLeaseStrategy } from '../v1/lease.validation.ts';
import type { LeaseCandidate, LeaseCandidateSpec } from './lease-candidate.ts';

const SPEC = Path.of('spec');
const META = { namespaced: true, nameRule: (name: string) => checkConfigMapKey(name), anyFinalizer: true };
const OLDEST = 'OldestEmulationVersion';

export function validateLeaseCandidate({ metadata, spec }: LeaseCandidate): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateSpec(spec ?? {})];
}

export function validateLeaseCandidateUpdate({ metadata, spec }: LeaseCandidate, old: LeaseCandidate): FieldError[] {
  return [
    ...validateObjectMetaUpdate(metadata, old.metadata, { anyFinalizer: true }),
    ...validateSpec(spec ?? {}),
    ...immutable(SPEC.child('leaseName'), { value: spec?.leaseName ?? '', old: old.spec?.leaseName ?? '' }),
  ];
}

function validateSpec({ leaseName, binaryVersion = '', emulationVersion = '', strategy = '' }: Partial<LeaseCandidateSpec>): FieldError[] {
  const binary = parseSemanticVersion(binaryVersion);
  const emulation = parseSemanticVersion(emulationVersion);
  const isAhead = binary !== undefined && emulation !== undefined && compareSemanticVersions(binary, emulation) < 0;
  const tooOld = 'must be greater than or equal to `emulationVersion`';
  return [
    ...notEmpty(SPEC.child('leaseName'), leaseName),
    ...(emulationVersion === '' ? [] : wellFormed('emulationVersion', emulationVersion, emulation)),
    ...(binaryVersion === '' ? [FieldError.required(SPEC.child('binaryVersion'))] : wellFormed('binaryVersion', binaryVersion, binary)),
    ...(isAhead ? [FieldError.invalid(SPEC.child('binaryVersion'), binaryVersion, tooOld)] : []),
    ...validateStrategy(strategy, emulation),
  ];
}

function wellFormed(field: string, text: string, version: SemanticVersion | undefined): FieldError[] {
  return version === undefined ? [FieldError.invalid(SPEC.child(field), text, 'must be a valid semantic version')] : [];
}

function validateStrategy(strategy: string, emulation: SemanticVersion | undefined): readonly FieldError[] {
  if (strategy === '') return [FieldError.required(SPEC.child('strategy'))];
  const needsEmulation = strategy === OLDEST && (emulation === undefined || emulation.numbers.every((number) => number === 0n));
  const missing = `must be specified when \`strategy\` is '${OLDEST}'`;
  return [...(needsEmulation ? [FieldError.required(SPEC.child('emulationVersion'), missing)] : []), ...validateLeaseStrategy(strategy)];
}
