import { labelSelectorGoText } from '#machinery';
import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { MutatingAdmissionPolicy } from './mutating-admission-policy.ts';
import type { MutatingAdmissionPolicyBinding } from './mutating-admission-policy-binding.ts';
import type { ParamKind } from './param-kind.ts';
import type { ParamRef } from './param-ref.ts';
import type { ValidatingAdmissionPolicy } from './validating-admission-policy.ts';

const PARAM_KIND = column('ParamKind', 'The kind of the parameters.');

export const validatingAdmissionPolicyTable: TableDefinition<ValidatingAdmissionPolicy> = {
  columns: [NAME_COLUMN, column('Validations', 'The number of rules.', { type: 'integer' }), PARAM_KIND, AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, spec?.validations?.length ?? 0, kindText(spec?.paramKind), ageCell(metadata, now)],
};

export const mutatingAdmissionPolicyTable: TableDefinition<MutatingAdmissionPolicy> = {
  columns: [NAME_COLUMN, column('Mutations', 'The number of mutations.', { type: 'integer' }), PARAM_KIND, AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, spec?.mutations?.length ?? 0, kindText(spec?.paramKind), ageCell(metadata, now)],
};

/** Bindings of both kinds are printed alike. */
export const policyBindingTable: TableDefinition<MutatingAdmissionPolicyBinding> = {
  columns: [NAME_COLUMN, column('PolicyName', 'The policy that is put to use.'), column('ParamRef', 'The parameters.'), AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, spec?.policyName ?? '', paramText(spec?.paramRef), ageCell(metadata, now)],
};

function kindText(paramKind: ParamKind | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>';
}

function paramText(paramRef: ParamRef | undefined): string {
  if (paramRef?.name) return `${paramRef.namespace || '*'}/${paramRef.name}`;
  if (!paramRef?.selector) return '<unset>';
  return labelSelectorGoText(paramRef.selector);
}
