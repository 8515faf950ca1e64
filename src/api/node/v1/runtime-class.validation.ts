import { type FieldError, nameIsDnsLabel, nameIsDnsSubdomain, Path } from '#machinery';
import { validateContainerResources } from '../../core/v1/container/resource-requirements.validation.ts';
import { deprecatedNodeLabel } from '../../core/v1/node/node-label.warnings.ts';
import { Toleration } from '../../core/v1/pod/toleration.ts';
import { validateTolerations } from '../../core/v1/pod/toleration.validation.ts';
import { immutable, requiredName } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabels } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { RuntimeClass, Scheduling } from './runtime-class.ts';

const HANDLER = Path.of('handler');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

export function validateRuntimeClass({ metadata, handler, overhead, scheduling }: RuntimeClass): FieldError[] {
  const errors = [...validateObjectMeta(metadata, META), ...requiredName(HANDLER, handler, (name) => nameIsDnsLabel(name, false))];
  const report = FieldReport.on(Path.of('overhead'), errors);
  if (overhead) validateContainerResources(overhead.podFixed ? { limits: overhead.podFixed } : {}, report);
  if (scheduling) validateScheduling(scheduling, FieldReport.on(Path.of('scheduling'), errors));
  return errors;
}

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, at: FieldReport): void {
  if (nodeSelector) at.add(validateLabels(nodeSelector, at.child('nodeSelector').path));
  const field = at.child('tolerations');
  validateTolerations(tolerations, field);
  const seen = new Set<string>();
  tolerations.forEach((toleration, i) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = [key, operator, value, effect].join('\0');
    if (seen.has(identity)) field.index(i).duplicate(goStruct(Toleration, toleration));
    seen.add(identity);
  });
}

export function validateRuntimeClassUpdate(runtimeClass: RuntimeClass, old: RuntimeClass): FieldError[] {
  return [
    ...validateRuntimeClass(runtimeClass),
    ...validateObjectMetaUpdate(runtimeClass.metadata, old.metadata, { anyFinalizer: true }),
    ...immutable(HANDLER, { value: runtimeClass.handler ?? '', old: old.handler ?? '' }),
  ];
}

export function runtimeClassWarnings({ scheduling }: RuntimeClass): readonly string[] {
  return Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`];
  });
}
