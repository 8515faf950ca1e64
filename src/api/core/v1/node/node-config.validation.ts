import { checkConfigMapKey, FieldError, nameIsDnsLabel, nameIsDnsSubdomain, type Path, type Problems } from '#machinery';
import { invalidErrors, notEmpty } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { type ConfigMapNodeConfigSource, NodeConfigSource, type NodeConfigStatus } from './node.ts';

/** A kubelet's dynamic configuration: no longer used, but validated if stored. */
export function validateNodeConfigSpec(path: Path, source: NodeConfigSource): FieldError[] {
  if (!source.configMap) return [noReference(path, source)];
  const { uid, resourceVersion } = source.configMap;
  const at = path.child('configMap');
  const errors: FieldError[] = [];
  if (uid) errors.push(FieldError.forbidden(at.child('uid'), 'uid must not be set in spec'));
  if (resourceVersion) errors.push(FieldError.forbidden(at.child('resourceVersion'), 'resourceVersion must not be set in spec'));
  return [...errors, ...validateReference(at, source.configMap)];
}

export function validateNodeConfigStatus(path: Path, status: NodeConfigStatus): FieldError[] {
  return (['assigned', 'active', 'lastKnownGood'] as const).flatMap((field) => {
    const source = status[field];
    return source ? validateStatusSource(path.child(field), source) : [];
  });
}

function validateStatusSource(path: Path, source: NodeConfigSource): FieldError[] {
  if (!source.configMap) return [noReference(path, source)];
  const at = path.child('configMap');
  return [
    ...notEmpty(at.child('uid'), source.configMap.uid),
    ...notEmpty(at.child('resourceVersion'), source.configMap.resourceVersion),
    ...validateReference(at, source.configMap),
  ];
}

function noReference(path: Path, source: NodeConfigSource): FieldError {
  return FieldError.invalid(path, goStruct(NodeConfigSource, source), 'exactly one reference subfield must be non-nil');
}

function validateReference(path: Path, source: ConfigMapNodeConfigSource): FieldError[] {
  const check = (field: 'namespace' | 'name' | 'kubeletConfigKey', rule: (value: string) => Problems) => {
    const value = source[field];
    return value ? invalidErrors(path.child(field), value, rule(value)) : [FieldError.required(path.child(field))];
  };
  return [
    ...check('namespace', (value) => nameIsDnsLabel(value, false)),
    ...check('name', (value) => nameIsDnsSubdomain(value, false)),
    ...check('kubeletConfigKey', checkConfigMapKey),
  ];
}
