import { parseIp, pushAll } from '#base';
import {
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkPortName,
  checkPortNumber,
  checkWildcardDns1123Subdomain,
  FieldError,
  itemErrors,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  Path,
} from '#machinery';
import type { TypedLocalObjectReference } from '../../core/v1/reference/typed-local-object-reference.ts';
import { validateHostname } from '../../core/v1/service/service-status.validation.ts';
import { invalidErrors, requiredName } from '../../field-checks.ts';
import { ipWarnings, validateLegacyIp } from '../../ip.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressServiceBackend, IngressSpec, IngressTLS } from './ingress.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_SUFFIXES = ['/..', '/.'];
const SPEC = Path.of('spec');
const INGRESS = Path.of('status', 'loadBalancer', 'ingress');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

/** Values of the stored ingress that newer rules would reject. */
interface Rules {
  readonly allowInvalidSecret?: boolean;
  readonly allowInvalidWildcardRule?: boolean;
}

export function validateIngress(ingress: Ingress): FieldError[] {
  const errors = validateAny(ingress, {});
  const annotation = ingress.metadata.annotations?.[CLASS_ANNOTATION];
  const className = ingress.spec?.ingressClassName;
  if (annotation === undefined || className === undefined || annotation === className) return errors;
  const path = Path.of('annotations', CLASS_ANNOTATION);
  return [...errors, FieldError.invalid(path, annotation, 'must match `ingressClassName` when both are specified')];
}

export function validateIngressUpdate(ingress: Ingress, old: Ingress): FieldError[] {
  const { tls = [], rules = [] } = old.spec ?? {};
  const stored: Rules = {
    allowInvalidSecret: tls.some(({ secretName }) => secretProblems(secretName).length > 0),
    allowInvalidWildcardRule: rules.some((rule) => rule.host?.includes('*') && validatePaths(Path.none, rule).length > 0),
  };
  return [...validateObjectMetaUpdate(ingress.metadata, old.metadata), ...validateAny(ingress, stored)];
}

export function validateIngressStatusUpdate(ingress: Ingress, old: Ingress): FieldError[] {
  const allowed = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  const points = ingress.status?.loadBalancer?.ingress ?? [];
  return [
    ...validateObjectMetaUpdate(ingress.metadata, old.metadata),
    ...itemErrors(points, ({ ip, hostname }, i) => [
      ...(ip ? validateLegacyIp(INGRESS.index(i).child('ip'), ip, allowed) : []),
      ...(hostname ? validateHostname(INGRESS.index(i).child('hostname'), hostname) : []),
    ]),
  ];
}

function validateAny({ metadata, spec }: Ingress, rules: Rules): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateSpec(spec ?? {}, rules)];
}

function validateSpec(spec: IngressSpec, stored: Rules): FieldError[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  const errors: FieldError[] = [];
  if (rules.length === 0 && !defaultBackend) {
    errors.push(FieldError.invalid(SPEC, spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend) pushAll(errors, validateBackend(SPEC.child('defaultBackend'), defaultBackend));
  for (const error of itemErrors(rules, (rule, i) => validateRule(SPEC.child('rules').index(i), rule, stored))) errors.push(error);
  for (const error of itemErrors(tls, (item, i) => validateTls(SPEC.child('tls').index(i), item, stored))) errors.push(error);
  if (ingressClassName === undefined) return errors;
  return [...errors, ...invalidErrors(SPEC.child('ingressClassName'), ingressClassName, nameIsDnsSubdomain(ingressClassName, false))];
}

function hostProblems(host: string): readonly string[] {
  return host.includes('*') ? checkWildcardDns1123Subdomain(host) : checkDns1123Subdomain(host);
}

function validateTls(path: Path, { hosts = [], secretName }: IngressTLS, { allowInvalidSecret }: Rules): FieldError[] {
  const errors = itemErrors(hosts, (host, i) => invalidErrors(path.child('hosts').index(i), host, hostProblems(host)));
  return allowInvalidSecret ? errors : [...errors, ...invalidErrors(path.child('secretName'), secretName, secretProblems(secretName))];
}

function secretProblems(name: string | undefined): readonly string[] {
  return name ? nameIsDnsSubdomain(name, false) : [];
}

function validateRule(path: Path, rule: IngressRule, { allowInvalidWildcardRule }: Rules): FieldError[] {
  const { host } = rule;
  const errors: FieldError[] = [];
  if (host) {
    if (parseIp(host)) errors.push(FieldError.invalid(path.child('host'), host, 'must be a DNS name, not an IP address'));
    pushAll(errors, invalidErrors(path.child('host'), host, hostProblems(host)));
  }
  return host?.includes('*') && allowInvalidWildcardRule ? errors : [...errors, ...validatePaths(path, rule)];
}

function validatePaths(path: Path, { http }: IngressRule): FieldError[] {
  if (!http) return [];
  const at = path.child('http', 'paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) return [FieldError.required(at)];
  return itemErrors(paths, (item, i) => validatePath(at.index(i), item));
}

function validatePath(path: Path, { path: text = '', pathType, backend }: HTTPIngressPath): FieldError[] {
  if (pathType === undefined || pathType === null) return [FieldError.required(path.child('pathType'), 'pathType must be specified')];
  const errors = [...validatePathText(path, text, pathType)];
  return [...errors, ...validateBackend(path.child('backend'), backend ?? {})];
}

function validatePathText(path: Path, text: string, pathType: string): readonly FieldError[] {
  const at = path.child('path');
  if (!PATH_TYPES.includes(pathType)) return [FieldError.notSupported(path.child('pathType'), pathType, PATH_TYPES)];
  const isFree = pathType === 'ImplementationSpecific';
  const absolute = text.startsWith('/') || (isFree && text === '') ? [] : [FieldError.invalid(at, text, 'must be an absolute path')];
  if (isFree) return absolute;
  const contained = BAD_SEQUENCES.filter((bad) => text.includes(bad)).map((bad) => `must not contain '${bad}'`);
  const ending = BAD_SUFFIXES.filter((bad) => text.endsWith(bad)).map((bad) => `cannot end with '${bad}'`);
  return [...absolute, ...invalidErrors(at, text, [...contained, ...ending])];
}

function validateBackend(path: Path, { resource, service }: IngressBackend): FieldError[] {
  if (resource && service) return [FieldError.invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return validateLocalReference(path.child('resource'), resource);
  if (service) return validateServiceBackend(path, service);
  return [FieldError.invalid(path, '', 'resource or service backend is required')];
}

function validateServiceBackend(path: Path, { name, port = {} }: IngressServiceBackend): FieldError[] {
  const errors = [...requiredName(path.child('service', 'name'), name, (value) => nameIsDnsLabel(value, false))];
  if (port.name && port.number) errors.push(FieldError.invalid(path, '', 'cannot set both port name & port number'));
  else if (port.name) pushAll(errors, invalidErrors(path.child('service', 'port', 'name'), port.name, checkPortName(port.name)));
  else if (port.number) pushAll(errors, invalidErrors(path.child('service', 'port', 'number'), port.number, checkPortNumber(port.number)));
  else errors.push(FieldError.required(path, 'port name or number is required'));
  return errors;
}

/** A reference to any kind in the same namespace. */
export function validateLocalReference(path: Path, { apiGroup, kind, name }: TypedLocalObjectReference): FieldError[] {
  const group = apiGroup ?? undefined;
  return [
    ...(group === undefined ? [] : invalidErrors(path.child('apiGroup'), group, checkDns1123Subdomain(group))),
    ...requiredName(path.child('kind'), kind, checkPathSegmentName),
    ...requiredName(path.child('name'), name, checkPathSegmentName),
  ];
}

export function ingressWarnings({ metadata, spec }: Ingress, old?: Ingress): readonly string[] {
  if (old || metadata.annotations?.[CLASS_ANNOTATION] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

export function ingressStatusWarnings({ status }: Ingress): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, i) => (ip ? ipWarnings(INGRESS.index(i), ip) : []));
}
