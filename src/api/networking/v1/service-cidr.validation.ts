import { parseCidr } from '#base';
import { FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { validateCidr } from '../../ip.validation.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { ServiceCIDR } from './service-cidr.ts';

const CIDRS = Path.of('spec', 'cidrs');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateServiceCIDR({ metadata, spec }: ServiceCIDR): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateCidrs(spec?.cidrs ?? [])];
}

function validateCidrs(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [FieldError.required(CIDRS, 'at least one CIDR required')];
  if (cidrs.length > 2) return [FieldError.invalid(CIDRS, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const errors = itemErrors(cidrs, (cidr, i) => validateCidr(CIDRS.index(i), cidr));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (cidrs.length < 2 || first === undefined || first !== second) return errors;
  const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [...errors, FieldError.invalid(CIDRS, cidrs, detail)];
}

/** Ranges are immutable, but a second family may be added. */
export function validateServiceCIDRUpdate(cidr: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const errors = validateObjectMetaUpdate(cidr.metadata, old.metadata);
  const cidrs = cidr.spec?.cidrs ?? [];
  const before = old.spec?.cidrs ?? [];
  const changed = itemErrors(before, (text, i) =>
    text === cidrs[i] ? [] : [FieldError.invalid(CIDRS.index(i), cidrs[i] ?? '', FIELD_IS_IMMUTABLE)],
  );
  if (before.length === cidrs.length) return [...errors, ...changed];
  if (before.length === 1 && cidrs.length === 2) return [...errors, ...changed, ...validateCidrs(cidrs)];
  return [...errors, FieldError.invalid(CIDRS, cidr.spec?.cidrs ?? null, FIELD_IS_IMMUTABLE)];
}

export function validateServiceCIDRStatusUpdate(cidr: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  return validateObjectMetaUpdate(cidr.metadata, old.metadata);
}
