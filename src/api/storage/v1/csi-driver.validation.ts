import { FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, sameValue, supportedValue } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from './csi-driver.ts';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };
const TOKENS_IN_SECRETS =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

export function validateCSIDriver({ metadata, spec }: CSIDriver): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateSpec(spec ?? {})];
}

/** The path has `attachedRequired`, as upstream. */
export function validateCSIDriverUpdate({ metadata, spec }: CSIDriver, old: CSIDriver): FieldError[] {
  const modes = spec?.volumeLifecycleModes;
  return [
    ...validateObjectMetaUpdate(metadata, old.metadata),
    ...validateSpec(spec ?? {}),
    ...immutable(SPEC.child('attachedRequired'), { value: spec?.attachRequired, old: old.spec?.attachRequired }),
    ...immutable(SPEC.child('volumeLifecycleModes'), { value: modes, old: old.spec?.volumeLifecycleModes }),
  ];
}

function validateSpec(spec: CSIDriverSpec): FieldError[] {
  const isSet = (path: string, value: boolean | undefined) => (value === undefined ? [FieldError.required(SPEC.child(path))] : []);
  return [
    ...isSet('attachedRequired', spec.attachRequired),
    ...isSet('podInfoOnMount', spec.podInfoOnMount),
    ...isSet('storageCapacity', spec.storageCapacity),
    ...(spec.fsGroupPolicy === undefined ? [] : supportedValue(SPEC.child('fsGroupPolicy'), spec.fsGroupPolicy, FS_GROUP_POLICIES)),
    ...validateTokenRequests(spec.tokenRequests ?? []),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) => supportedValue(SPEC.child('volumeLifecycleModes'), mode, LIFECYCLE_MODES)),
    ...isSet('seLinuxMount', spec.seLinuxMount),
    ...validateUpdatePeriod(spec.nodeAllocatableUpdatePeriodSeconds),
    ...validateTokensInSecrets(spec),
  ];
}

function validateTokenRequests(requests: readonly TokenRequest[]): FieldError[] {
  const audiences = new Set<string>();
  return itemErrors(requests, ({ audience = '', expirationSeconds }, i) => {
    const path = SPEC.child('tokenRequests').index(i);
    if (audiences.has(audience)) return [FieldError.duplicate(path.child('audience'), audience)];
    audiences.add(audience);
    if (expirationSeconds === undefined) return [];
    const invalid = (detail: string) => [FieldError.invalid(path.child('expirationSeconds'), expirationSeconds, detail)];
    if (expirationSeconds < MIN_TOKEN_SECONDS) return invalid('may not specify a duration less than 10 minutes');
    return expirationSeconds > MAX_TOKEN_SECONDS ? invalid('may not specify a duration larger than 2^32 seconds') : [];
  });
}

function validateUpdatePeriod(seconds: number | undefined): FieldError[] {
  if (seconds === undefined || seconds >= 10) return [];
  const path = SPEC.child('nodeAllocatableUpdatePeriodSeconds');
  return [FieldError.invalid(path, seconds, 'must be greater than or equal to 10 seconds')];
}

function validateTokensInSecrets({ serviceAccountTokenInSecrets: inSecrets, tokenRequests = [] }: CSIDriverSpec): FieldError[] {
  if (inSecrets === undefined || tokenRequests.length > 0) return [];
  const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  return [FieldError.invalid(SPEC.child('serviceAccountTokenInSecrets'), inSecrets, detail)];
}

export function csiDriverWarnings({ spec }: CSIDriver, old?: CSIDriver): readonly string[] {
  const requests = spec?.tokenRequests ?? [];
  if (requests.length === 0 || spec?.serviceAccountTokenInSecrets !== undefined) return [];
  return old && sameValue(requests, old.spec?.tokenRequests) ? [] : [TOKENS_IN_SECRETS];
}
