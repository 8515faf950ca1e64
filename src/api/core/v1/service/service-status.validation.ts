import { parseIp, pushAll } from '#base';
import { checkDns1123Subdomain, FieldError, itemErrors, Path } from '#machinery';
import { invalidErrors, supportedValue } from '../../../field-checks.ts';
import { ipWarnings, validateLegacyIp } from '../../../ip.validation.ts';
import { validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { LoadBalancerIngress, Service } from './service.ts';

const IP_MODES = ['Proxy', 'VIP'];
const INGRESS = Path.of('status', 'loadBalancer', 'ingress');

export function validateServiceStatusUpdate(service: Service, old: Service): FieldError[] {
  return [...validateObjectMetaUpdate(service.metadata, old.metadata), ...validateIngress(service, old)];
}

function validateIngress({ spec, status }: Service, old: Service): FieldError[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  if (spec?.type !== 'LoadBalancer' && ingress.length > 0) {
    return [FieldError.forbidden(INGRESS, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const allowed = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return itemErrors(ingress, (item, i) => validateIngressItem(INGRESS.index(i), item, allowed));
}

function validateIngressItem(path: Path, { ip, ipMode, hostname }: LoadBalancerIngress, allowed: readonly string[]): FieldError[] {
  const errors = ip ? [...validateLegacyIp(path.child('ip'), ip, allowed)] : [];
  if (ipMode === undefined) {
    if (ip) errors.push(FieldError.required(path.child('ipMode'), 'must be specified when `ip` is set'));
  } else if (!ip) {
    errors.push(FieldError.forbidden(path.child('ipMode'), 'may not be specified when `ip` is not set'));
  } else {
    pushAll(errors, supportedValue(path.child('ipMode'), ipMode, IP_MODES));
  }
  if (hostname) pushAll(errors, validateHostname(path.child('hostname'), hostname));
  return errors;
}

/** A hostname that is not an IP address. */
export function validateHostname(path: Path, hostname: string): FieldError[] {
  const errors = [...invalidErrors(path, hostname, checkDns1123Subdomain(hostname))];
  if (parseIp(hostname)) errors.push(FieldError.invalid(path, hostname, 'must be a DNS name, not an IP address'));
  return errors;
}

export function serviceStatusWarnings({ status }: Service): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, i) => (ip ? ipWarnings(INGRESS.index(i), ip) : []));
}
