import { isDualStackPair, parseIp, pushAll } from '#base';
import { FieldError, itemErrors, Path } from '#machinery';
import { markDuplicates, supportedValue } from '../../../field-checks.ts';
import { validateLegacyIp } from '../../../ip.validation.ts';
import type { Service, ServiceSpec } from './service.ts';
import { CLUSTER_IP_NONE, isHeadless } from './service-traffic.ts';

const IP_FAMILIES = ['IPv4', 'IPv6'];
const IP_FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const SPEC = Path.of('spec');
const CLUSTER_IPS = SPEC.child('clusterIPs');
const FAMILIES = SPEC.child('ipFamilies');
const POLICY = SPEC.child('ipFamilyPolicy');
const FIXED = 'may not change once set';

/** clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, which must be consistent. Also validated before addresses are allocated. */
export function validateClusterIpFields(service: Service, old?: Service): FieldError[] {
  const spec = service.spec ?? {};
  if (spec.type === 'ExternalName') return [];
  const addresses = validateAddresses(spec, old?.spec?.clusterIPs ?? []);
  const errors = [...validatePrimary(spec), ...validateFamilies(spec), ...addresses.errors];
  // Further errors about invalid addresses would not help.
  return addresses.anyInvalid ? errors : [...errors, ...validateAgreement(service)];
}

function validatePrimary({ clusterIP = '', clusterIPs = [] }: ServiceSpec): FieldError[] {
  if (clusterIP === '') {
    if (clusterIPs.length === 0) return [];
    return [FieldError.invalid(CLUSTER_IPS, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  }
  if (clusterIPs.length === 0) return [FieldError.required(CLUSTER_IPS)];
  return clusterIPs[0] === clusterIP ? [] : [FieldError.invalid(CLUSTER_IPS, clusterIPs, 'first value must match `clusterIP`')];
}

function validateFamilies({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const repeated = markDuplicates(ipFamilies);
  ipFamilies.forEach((family, i) => {
    pushAll(errors, supportedValue(FAMILIES.index(i), family, IP_FAMILIES));
    if (repeated[i]) errors.push(FieldError.duplicate(FAMILIES.index(i), family));
  });
  if (ipFamilyPolicy !== undefined) pushAll(errors, supportedValue(POLICY, ipFamilyPolicy, IP_FAMILY_POLICIES));
  return errors;
}

function validateAddresses({ clusterIPs = [] }: ServiceSpec, allowed: readonly string[]): { errors: FieldError[]; anyInvalid: boolean } {
  const errors = itemErrors(clusterIPs, (ip, i) => {
    if (i > 0 || ip !== CLUSTER_IP_NONE) return validateLegacyIp(CLUSTER_IPS.index(i), ip, allowed);
    return clusterIPs.length === 1 ? [] : [FieldError.invalid(CLUSTER_IPS, clusterIPs, "'None' must be the first and only value")];
  });
  const anyInvalid = errors.length > 0;
  if (clusterIPs.length > 2) errors.push(FieldError.invalid(CLUSTER_IPS, clusterIPs, 'may only hold up to 2 values'));
  return { errors, anyInvalid };
}

function validateAgreement(service: Service): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = service.spec ?? {};
  const errors: FieldError[] = [];
  if (clusterIPs.length > 1 && !isDualStackPair(clusterIPs, parseIp)) {
    errors.push(FieldError.invalid(CLUSTER_IPS, clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(service)) return errors;
  clusterIPs.slice(0, ipFamilies.length).forEach((ip, i) => {
    const family = parseIp(ip)?.family === 6 ? 'IPv6' : 'IPv4';
    const expected = ipFamilies[i];
    if (expected === family || !IP_FAMILIES.includes(expected ?? '')) return;
    errors.push(FieldError.invalid(CLUSTER_IPS.index(i), ip, `expected an ${expected} value as indicated by \`ipFamilies[${i}]\``));
  });
  return errors;
}

function isExternalName(...services: readonly Service[]): boolean {
  return services.some(({ spec }) => spec?.type === 'ExternalName');
}

/** A secondary address may be added and removed; the primary is immutable, except from and to ExternalName. */
export function validateClusterIpsUpdate(service: Service, old: Service): FieldError[] {
  if (isExternalName(service, old) || (isHeadless(service) && isHeadless(old))) return [];
  const { clusterIPs = [], ipFamilyPolicy } = service.spec ?? {};
  const before = old.spec?.clusterIPs ?? [];
  const changed = (i: number) => FieldError.invalid(CLUSTER_IPS.index(i), clusterIPs, FIXED);
  if (before.length === clusterIPs.length) return itemErrors(before, (ip, i) => (ip === clusterIPs[i] ? [] : [changed(i)]));
  const errors: FieldError[] = [];
  if (clusterIPs.length === 0) {
    errors.push(FieldError.invalid(CLUSTER_IPS.index(0), clusterIPs, 'primary clusterIP can not be unset'));
  } else if (before.length > 0 && before[0] !== clusterIPs[0]) {
    errors.push(changed(0));
  }
  const released = before.length > clusterIPs.length && clusterIPs.length === 1;
  if (released && ipFamilyPolicy !== 'SingleStack') errors.push(mustBeSingleStack(ipFamilyPolicy, 'clusterIP'));
  return errors;
}

/** The same for families. Some of upstream's messages show the addresses, as do these. */
export function validateIpFamiliesUpdate(service: Service, old: Service): FieldError[] {
  if (isExternalName(service, old) || isHeadless(service) || isHeadless(old)) return [];
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = service.spec ?? {};
  const before = old.spec?.ipFamilies ?? [];
  const path = FAMILIES.index(0);
  if (before.length === ipFamilies.length) {
    return itemErrors(before, (family, i) => (family === ipFamilies[i] ? [] : [FieldError.invalid(path, ipFamilies, FIXED)]));
  }
  const errors: FieldError[] = [];
  const shrunk = before.length > ipFamilies.length;
  if (shrunk && clusterIPs.length === 0) errors.push(FieldError.invalid(path, ipFamilies, 'primary ipFamily can not be unset'));
  if (before.length > 0 && ipFamilies.length > 0 && before[0] !== ipFamilies[0]) errors.push(FieldError.invalid(path, clusterIPs, FIXED));
  if (shrunk && ipFamilies.length === 1 && ipFamilyPolicy !== 'SingleStack') errors.push(mustBeSingleStack(ipFamilyPolicy, 'ipFamily'));
  return errors;
}

function mustBeSingleStack(policy: string | undefined, noun: string): FieldError {
  return FieldError.invalid(POLICY, policy ?? null, `must be set to 'SingleStack' when releasing the secondary ${noun}`);
}
