import { pushAll } from '#base';
import { checkDns1035Label, checkDns1123Subdomain, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, joinedInvalidError } from '../../field-checks.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { StorageVersionMigration } from './storage-version-migration.ts';

const RESOURCE = Path.of('spec', 'resource');
const STATUS = Path.of('status');

export function validateStorageVersionMigration({ metadata, spec }: StorageVersionMigration): FieldError[] {
  const { group = '', resource = '' } = spec?.resource ?? {};
  return [
    ...validateObjectMeta(metadata, { namespaced: false, nameRule: nameIsDnsSubdomain }),
    ...(resource === ''
      ? [FieldError.required(RESOURCE.child('resource'), 'resource is required to be set')]
      : joinedInvalidError(RESOURCE.child('resource'), resource, checkDns1035Label(resource))),
    ...(group === '' ? [] : joinedInvalidError(RESOURCE.child('group'), group, checkDns1123Subdomain(group))),
  ];
}

export function validateStorageVersionMigrationUpdate(migration: StorageVersionMigration, old: StorageVersionMigration): FieldError[] {
  return [
    ...validateStorageVersionMigration(migration),
    ...validateObjectMetaUpdate(migration.metadata, old.metadata),
    ...immutable(Path.of('spec'), { value: migration.spec, old: old.spec }),
  ];
}

export function validateStorageVersionMigrationStatus(migration: StorageVersionMigration, old: StorageVersionMigration): FieldError[] {
  const { conditions = [], resourceVersion = '' } = migration.status ?? {};
  const errors = validateObjectMetaUpdate(migration.metadata, old.metadata);
  const version = STATUS.child('resourceVersion');
  if (resourceVersion !== '' && !/^[1-9]\d*$/.test(resourceVersion)) {
    errors.push(FieldError.invalid(version, resourceVersion, `resource version is not well formed: ${resourceVersion}`));
  }
  pushAll(errors, validateConditions(conditions, STATUS.child('conditions')));
  const before = old.status?.resourceVersion ?? '';
  if (before !== '' && before !== resourceVersion) errors.push(FieldError.invalid(version, resourceVersion, FIELD_IS_IMMUTABLE));
  const problem = (text: string) => errors.push(FieldError.invalid(STATUS.child('conditions'), conditions, text));
  if (is(migration, 'Succeeded') && is(migration, 'Failed')) problem('Both success and failed conditions cannot be true at the same time');
  if (is(old, 'Succeeded') && !is(migration, 'Succeeded')) problem('Success condition cannot be set to false once it is true');
  if (is(old, 'Failed') && !is(migration, 'Failed')) problem('Failed condition cannot be set to false once it is true');
  return errors;
}

function is({ status }: StorageVersionMigration, type: string): boolean {
  return status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
}
