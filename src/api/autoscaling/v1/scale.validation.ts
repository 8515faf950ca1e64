import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import type { Scale } from './scale.ts';

export function validateScale({ metadata, spec }: Scale): FieldError[] {
  const at = FieldReport.on(Path.of('spec'), validateObjectMeta(metadata, { namespaced: true, nameRule: nameIsDnsSubdomain }));
  at.child('replicas').nonNegative(spec?.replicas);
  return at.errors;
}
