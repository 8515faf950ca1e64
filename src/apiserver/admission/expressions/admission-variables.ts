import { admissionregistration } from '#api';
import { cel } from '#machinery';

/** The variables of expressions as they are evaluated: outside of namespaces there is no namespace object. */
export function evaluatedVariables(scope: { hasParams: boolean; hasAuthorizer: boolean }): Readonly<Record<string, cel.CelType>> {
  const declared = admissionregistration.admissionVariables(scope);
  return { ...declared, namespaceObject: cel.NAMESPACE_OBJECT_TYPE.with({ nullable: true }) };
}
