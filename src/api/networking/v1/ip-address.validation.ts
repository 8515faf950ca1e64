import { checkDns1123Subdomain, checkPathSegmentName, FieldError, type NameCheck, Path } from '#machinery';
import { immutable, invalidErrors, requiredName } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateIp } from '../../ip.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { type IPAddress, ParentReference } from './ip-address.ts';

const PARENT = Path.of('spec', 'parentRef');
const nameIsAddress: NameCheck = (name) => validateIp(Path.none, name).map(({ detail }) => detail);
const META = { namespaced: false, nameRule: nameIsAddress };

export function validateIPAddress({ metadata, spec }: IPAddress): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateParent(spec?.parentRef)];
}

function validateParent(parent: ParentReference | undefined): FieldError[] {
  if (!parent) return [FieldError.required(PARENT)];
  const { group, resource, name, namespace } = parent;
  return [
    ...(group ? invalidErrors(PARENT.child('group'), group, checkDns1123Subdomain(group)) : []),
    ...requiredName(PARENT.child('resource'), resource, checkPathSegmentName),
    ...requiredName(PARENT.child('name'), name, checkPathSegmentName),
    ...(namespace ? invalidErrors(PARENT.child('namespace'), namespace, checkPathSegmentName(namespace)) : []),
  ];
}

export function validateIPAddressUpdate(address: IPAddress, old: IPAddress): FieldError[] {
  const value = address.spec?.parentRef;
  return [
    ...validateIPAddress(address),
    ...validateObjectMetaUpdate(address.metadata, old.metadata),
    ...immutable(PARENT, { value, old: old.spec?.parentRef, printed: goStruct(ParentReference, value) }),
  ];
}
