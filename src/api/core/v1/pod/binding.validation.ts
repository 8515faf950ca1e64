import { type FieldError, Path } from '#machinery';
import { FieldReport } from '../../../field-report.ts';
import type { Binding } from './binding.ts';

/** A binding assigns a pod to a node. */
export function validateBinding({ target }: Binding): FieldError[] {
  const at = FieldReport.on(Path.of('target'));
  if (target?.kind && target.kind !== 'Node') at.child('kind').notSupported(target.kind, ['Node', '<empty>']);
  if (!target?.name) at.child('name').required();
  return at.errors;
}
