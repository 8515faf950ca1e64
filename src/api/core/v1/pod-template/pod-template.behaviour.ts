import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../../behaviour.ts';
import { FieldReport } from '../../../field-report.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { column, NAME_COLUMN } from '../../../table-cells.ts';
import { containerCells, labelsCell } from '../pod/container-cells.ts';
import { podTemplateWarnings } from '../pod/pod.warnings.ts';
import { defaultPodTemplateObject } from './pod-template.defaults.ts';
import { PodTemplate } from './pod-template.ts';
import { validatePodTemplateSpec } from './pod-template-spec.validation.ts';

const TEMPLATE = Path.of('template');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;

const podTemplateTable: TableDefinition<PodTemplate> = {
  columns: [
    NAME_COLUMN,
    column('Containers', 'The names of the containers in the template.'),
    column('Images', 'The images of the containers in the template.'),
    column('Pod Labels', 'The labels that pods get.'),
  ],
  cells: ({ metadata, template }) => [metadata.name, ...containerCells(template), labelsCell(template?.metadata?.labels)],
};

function validateTemplate({ template = {} }: PodTemplate, errors: FieldError[]): FieldError[] {
  validatePodTemplateSpec(template, FieldReport.on(TEMPLATE, errors));
  return errors;
}

export const podTemplateBehaviour: KindBehaviour<PodTemplate> = {
  kind: PodTemplate,
  defaults: defaultPodTemplateObject,
  validate: (object) => validateTemplate(object, validateObjectMeta(object.metadata, META_RULES)),
  validateUpdate: (object, old) => validateTemplate(object, validateObjectMetaUpdate(object.metadata, old.metadata)),
  warnings: ({ metadata, template }, old) =>
    old?.metadata.generation !== undefined && old.metadata.generation === metadata.generation
      ? []
      : podTemplateWarnings(template, TEMPLATE),
  table: podTemplateTable,
};
