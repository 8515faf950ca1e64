import { pushAll } from '#base';
import { FieldError, nameIsDnsLabel, nameIsDnsSubdomain, Path, validateDomainPrefixedPath } from '#machinery';
import { immutable, invalidErrors } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateLocalReference } from './ingress.validation.ts';
import type { IngressClass, IngressClassParametersReference } from './ingress-class.ts';

const MAX_CONTROLLER_LENGTH = 250;
const SCOPES = ['Cluster', 'Namespace'];
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateIngressClass({ metadata, spec }: IngressClass): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const controller = spec?.controller ?? '';
  const path = SPEC.child('controller');
  if (Buffer.byteLength(controller) > MAX_CONTROLLER_LENGTH) errors.push(FieldError.tooLong(path, MAX_CONTROLLER_LENGTH));
  pushAll(errors, validateDomainPrefixedPath(path, controller));
  return spec?.parameters ? [...errors, ...validateParameters(SPEC.child('parameters'), spec.parameters)] : errors;
}

function validateParameters(path: Path, parameters: IngressClassParametersReference): FieldError[] {
  const { scope, namespace, ...reference } = parameters;
  const errors = validateLocalReference(path, reference);
  if (scope === undefined || scope === null) return [...errors, FieldError.required(path.child('scope'))];
  if (!SCOPES.includes(scope)) return [...errors, FieldError.notSupported(path.child('scope'), scope, SCOPES)];
  const at = path.child('namespace');
  if (scope === 'Cluster') {
    return namespace === undefined ? errors : [...errors, FieldError.forbidden(at, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace === undefined) return [...errors, FieldError.required(at, "`parameters.scope` is set to 'Namespace'")];
  return [...errors, ...invalidErrors(at, namespace, nameIsDnsLabel(namespace, false))];
}

export function validateIngressClassUpdate(ingressClass: IngressClass, old: IngressClass): FieldError[] {
  return [
    ...validateObjectMetaUpdate(ingressClass.metadata, old.metadata),
    ...immutable(SPEC.child('controller'), { value: ingressClass.spec?.controller ?? '', old: old.spec?.controller ?? '' }),
    ...validateIngressClass(ingressClass),
  ];
}
