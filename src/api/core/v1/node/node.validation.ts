import { isDualStackPair, parseCidr } from '#base';
import { compareBytes, FieldError, goQuote, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { positive } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { cidrWarnings, validateLegacyCidr } from '../../../ip.validation.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { ResourceList } from '../resource-list/resource-list.ts';
import { validateResourceAmount } from '../resource-list/resource-name.validation.ts';
import { type Node, NodeAddress } from './node.ts';
import { validateNodeAnnotations } from './node-annotations.validation.ts';
import { validateNodeConfigSpec, validateNodeConfigStatus } from './node-config.validation.ts';
import { validateTaints } from './taint.validation.ts';

const DECLARED_FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const MAX_FEATURE_LENGTH = 253;
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const POD_CIDRS = SPEC.child('podCIDRs');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

/** Some paths start with `metadata` for fields elsewhere, as upstream. */
export function validateNode(node: Node): FieldError[] {
  return [
    ...validateObjectMeta(node.metadata, META),
    ...validateNodeAnnotations(node.metadata.annotations ?? {}),
    ...validateTaints(METADATA.child('taints'), node.spec?.taints ?? []),
    ...validateResources(node),
    ...validateSwap(node),
    ...validateDeclaredFeatures(node.status?.declaredFeatures ?? []),
    ...validatePodCidrs(node.spec?.podCIDRs ?? []),
  ];
}

/** An update of the whole node: includes the rules for new nodes. */
export function validateNodeUpdate(node: Node, old: Node): FieldError[] {
  return [...validateNode(node), ...validateNodeChange(node, old)];
}

/** Immutable fields; all of them for status updates. */
export function validateNodeChange(node: Node, old: Node): FieldError[] {
  return [
    ...validateObjectMetaUpdate(node.metadata, old.metadata),
    ...validateNodeAnnotations(node.metadata.annotations ?? {}),
    ...validateResources(node),
    ...validateDeclaredFeatures(node.status?.declaredFeatures ?? []),
    ...validateAddresses(node),
    ...validateIdentity(node, old),
    ...(node.spec?.configSource ? validateNodeConfigSpec(SPEC.child('configSource'), node.spec.configSource) : []),
    ...(node.status?.config ? validateNodeConfigStatus(STATUS.child('config'), node.status.config) : []),
    ...validateTaints(METADATA.child('taints'), node.spec?.taints ?? []),
    ...validateExternalId(node, old),
  ];
}

function validateResources({ status }: Node): FieldError[] {
  return [...validateAmounts('capacity', status?.capacity), ...validateAmounts('allocatable', status?.allocatable)];
}

function validateAmounts(field: string, list: ResourceList | undefined): FieldError[] {
  return Object.entries(list ?? {}).flatMap(([name, amount]) => validateResourceAmount(STATUS.child(field, name), name, amount));
}

function validateSwap({ status }: Node): readonly FieldError[] {
  const capacity = status?.nodeInfo?.swap?.capacity;
  return capacity === undefined ? [] : positive(METADATA.child('nodeSwapStatus', 'capacity'), capacity);
}

function validateDeclaredFeatures(features: readonly string[]): FieldError[] {
  const path = STATUS.child('declaredFeatures');
  return itemErrors(features, (feature, i) => {
    const errors = validateFeatureName(path.index(i), feature);
    const next = features[i + 1];
    if (next === undefined) return errors;
    if (next === feature) errors.push(FieldError.duplicate(path.index(i + 1), next));
    else if (compareBytes(feature, next) > 0)
      errors.push(FieldError.invalid(path.index(i + 1), next, 'list must be sorted alphabetically'));
    return errors;
  });
}

function validateFeatureName(path: Path, name: string): FieldError[] {
  if (Buffer.byteLength(name) > MAX_FEATURE_LENGTH) {
    const detail = `invalid feature name ${goQuote(name)}: must be no more than ${MAX_FEATURE_LENGTH} characters`;
    return [FieldError.invalid(path, name, detail)];
  }
  if (DECLARED_FEATURE.test(name)) return [];
  const rule =
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
  return [FieldError.invalid(path, name, `invalid feature name ${goQuote(name)}: ${rule}`)];
}

function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const errors = itemErrors(cidrs, (cidr, i) => validateLegacyCidr(POD_CIDRS.index(i), cidr));
  if (cidrs.length < 2) return errors;
  const dualStack = isDualStackPair(cidrs, parseCidr);
  if (dualStack === undefined) {
    const bad = cidrs.findIndex((cidr) => !parseCidr(cidr));
    const cause = `invalid CIDR[${bad}]: ${cidrs[bad]} (invalid CIDR address: ${cidrs[bad]})`;
    errors.push(FieldError.internalError(POD_CIDRS, new Error(`invalid PodCIDRs. failed to check with dual stack with error:${cause}`)));
  }
  if (dualStack && cidrs.length === 2) return errors;
  return [...errors, FieldError.invalid(POD_CIDRS, cidrs, 'may specify no more than one CIDR for each IP family')];
}

function validateAddresses({ status }: Node): FieldError[] {
  const seen = new Set<string>();
  return (status?.addresses ?? []).flatMap((address, i) => {
    const key = `${address.type}\0${address.address}`;
    const isDuplicate = seen.has(key);
    seen.add(key);
    return isDuplicate ? [FieldError.duplicate(STATUS.child('addresses').index(i), goStruct(NodeAddress, address))] : [];
  });
}

/** podCIDRs and providerID are set once. */
function validateIdentity({ spec }: Node, { spec: before }: Node): FieldError[] {
  const errors: FieldError[] = [];
  const addError = (field: string, name: string) =>
    errors.push(FieldError.forbidden(SPEC.child(field), `node updates may not change ${name} except from "" to valid`));
  const old = before?.podCIDRs ?? [];
  const cidrs = spec?.podCIDRs ?? [];
  if (old.length > 0 && old.length !== cidrs.length) addError('podCIDRs', 'podCIDR');
  else for (const [i, cidr] of old.entries()) if (cidr !== cidrs[i]) addError('podCIDRs', 'podCIDR');
  if (before?.providerID && before.providerID !== spec?.providerID) addError('providerID', 'providerID');
  return errors;
}

function validateExternalId({ spec }: Node, { spec: before }: Node): FieldError[] {
  if ((spec?.externalID ?? '') === (before?.externalID ?? '')) return [];
  return [FieldError.forbidden(SPEC.child('externalID'), 'may not be updated')];
}

export function nodeWarnings({ spec }: Node): readonly string[] {
  const warnings: string[] = [];
  if (spec?.configSource) warnings.push('spec.configSource: the feature is removed');
  if (spec?.externalID) warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  return [...warnings, ...(spec?.podCIDRs ?? []).flatMap((cidr, i) => cidrWarnings(POD_CIDRS.index(i), cidr))];
}
