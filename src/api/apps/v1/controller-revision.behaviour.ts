import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import type { OwnerReference } from '../../meta/v1/object-meta.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { ControllerRevision } from './controller-revision.ts';

const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;

function validateRevision({ metadata, revision }: ControllerRevision, at: FieldReport): void {
  at.add(validateObjectMeta(metadata, META_RULES));
  at.child('revision').nonNegative(revision);
}

function validateControllerRevision(object: ControllerRevision): FieldError[] {
  const at = FieldReport.on(Path.none);
  validateRevision(object, at);
  const data: unknown = object.data;
  if (data === undefined || data === null) at.child('data').required('data is mandatory');
  else if (typeof data !== 'object' || Array.isArray(data)) at.child('data').required('data must be a valid JSON object');
  return at.errors;
}

function validateControllerRevisionUpdate(object: ControllerRevision, old: ControllerRevision): FieldError[] {
  const at = FieldReport.on(Path.none, validateObjectMetaUpdate(object.metadata, old.metadata));
  validateRevision(object, at);
  if (!sameValue(object.data, old.data)) at.child('data').invalid(object.data ?? null, FIELD_IS_IMMUTABLE);
  return at.errors;
}

const controllerRevisionTable: TableDefinition<ControllerRevision> = {
  columns: [
    NAME_COLUMN,
    column('Controller', 'The workload whose revision it is.'),
    column('Revision', 'The number of the revision.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, revision }, now) => [
    metadata.name,
    controllerText(metadata.ownerReferences?.find(({ controller }) => controller)),
    revision ?? 0,
    ageCell(metadata, now),
  ],
};

/** `daemonset.apps/a`. */
function controllerText(owner: OwnerReference | undefined): string {
  if (!owner) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

export const controllerRevisionBehaviour: KindBehaviour<ControllerRevision> = {
  kind: ControllerRevision,
  validate: validateControllerRevision,
  validateUpdate: validateControllerRevisionUpdate,
  table: controllerRevisionTable,
};
