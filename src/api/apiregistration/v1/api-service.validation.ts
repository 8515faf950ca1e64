import { pushAll } from '#base';
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkPortNumber,
  FieldError,
  goQuote,
  Path,
  type Problems,
} from '#machinery';
import { base64Size } from '../../core/v1/config-map/config-map.validation.ts';
import { invalidErrors, notEmpty } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { APIService, APIServiceSpec } from './api-service.ts';

const STATUSES = ['True', 'False', 'Unknown'];
const SPEC = Path.of('spec');
const ANY_FINALIZER = { anyFinalizer: true };

export function validateAPIService({ metadata, spec }: APIService): FieldError[] {
  const serviceSpec = spec ?? ({} as APIServiceSpec);
  const nameRule = (name: string) => nameProblems(name, serviceSpec);
  return [
    ...validateObjectMeta(metadata, { namespaced: false, nameRule, ...ANY_FINALIZER }),
    ...validateGroupVersion(serviceSpec),
    ...validatePriorities(serviceSpec),
    ...(serviceSpec.service ? validateRemote(serviceSpec) : validateLocal(serviceSpec)),
  ];
}

/** An APIService's name is its version and group. */
function nameProblems(name: string, { group = '', version = '' }: APIServiceSpec): Problems {
  const problems = checkPathSegmentName(name);
  const expected = `${version}.${group}`;
  if (problems.length > 0 || name === expected) return problems;
  return [`must be \`spec.version+"."+spec.group\`: ${goQuote(expected)}`];
}

function validateGroupVersion({ group = '', version = '' }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (group === '' && version !== 'v1') {
    errors.push(FieldError.required(SPEC.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group !== '') pushAll(errors, invalidErrors(SPEC.child('group'), group, checkDns1123Subdomain(group)));
  return [...errors, ...invalidErrors(SPEC.child('version'), version, checkDns1035Label(version))];
}

function validatePriorities({ groupPriorityMinimum = 0, versionPriority = 0 }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const addError = (field: string, value: number, max: number) =>
    errors.push(FieldError.invalid(SPEC.child(field), value, `must be positive and less than ${max}`));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20_000) addError('groupPriorityMinimum', groupPriorityMinimum, 20_000);
  if (versionPriority <= 0 || versionPriority > 1000) addError('versionPriority', versionPriority, 1000);
  return errors;
}

function validateLocal({ caBundle, insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (caBundle) {
    const size = `${base64Size(caBundle)} bytes`;
    errors.push(FieldError.invalid(SPEC.child('caBundle'), size, 'local APIServices may not have a caBundle'));
  }
  if (insecureSkipTLSVerify) {
    errors.push(FieldError.invalid(SPEC.child('insecureSkipTLSVerify'), true, 'local APIServices may not have insecureSkipTLSVerify'));
  }
  return errors;
}

function validateRemote({ service, caBundle, insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const path = SPEC.child('service');
  const errors = [...notEmpty(path.child('namespace'), service?.namespace), ...notEmpty(path.child('name'), service?.name)];
  const port = service?.port ?? 0;
  const problems = checkPortNumber(port);
  if (problems.length > 0) errors.push(FieldError.invalid(path.child('port'), port, `port is not valid: ${problems.join(', ')}`));
  if (!insecureSkipTLSVerify || !caBundle) return errors;
  return [...errors, FieldError.invalid(SPEC.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present')];
}

export function validateAPIServiceUpdate(service: APIService, old: APIService): FieldError[] {
  return [...validateObjectMetaUpdate(service.metadata, old.metadata, ANY_FINALIZER), ...validateAPIService(service)];
}

export function validateAPIServiceStatusUpdate({ metadata, status }: APIService, old: APIService): FieldError[] {
  const path = Path.of('status', 'conditions');
  const conditions = (status?.conditions ?? []).flatMap((condition, i) =>
    STATUSES.includes(condition.status) ? [] : [FieldError.notSupported(path.index(i).child('status'), condition.status ?? '', STATUSES)],
  );
  return [...validateObjectMetaUpdate(metadata, old.metadata, ANY_FINALIZER), ...conditions];
}
