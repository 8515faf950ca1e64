import type { admissionregistration } from '#api';
import {
  applyJsonPatch,
  cel,
  type JsonObject,
  JsonPatchError,
  type JsonPatchOperation,
  JsonPatchTestError,
  type JsonValue,
  MergeConfigurationError,
  mergeConfiguration,
} from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { Evaluator, type Expression } from '../expressions/evaluation.ts';
import { type ChangedKind, readChanged } from '../matching/changed-kind.ts';

const APPLY_RESULT = cel.objectType('Object', {});
const PATCH_RESULT = cel.listType(cel.JSON_PATCH_TYPE);

/** A mutation failed: the failure policy applies. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}

/** One mutation of a policy. */
export interface Mutation extends Expression {
  /** Applies the value of the expression to the object. */
  apply(value: cel.CelValue, object: KubeObject, kind: ChangedKind): KubeObject;
}

export function compileMutation(mutation: admissionregistration.Mutation, variables: Readonly<Record<string, cel.CelType>>): Mutation {
  const isPatch = mutation.patchType === 'JSONPatch';
  const text = (isPatch ? mutation.jsonPatch : mutation.applyConfiguration)?.expression ?? '';
  const resultTypes = [isPatch ? PATCH_RESULT : APPLY_RESULT];
  const { MUTATION_ENVIRONMENT: environment, resolveMutationType: resolveType } = cel;
  return {
    text,
    result: cel.compile(text, { variables, environment, resolveType, resultTypes }),
    apply: isPatch ? patched : configured,
  };
}

/** Evaluates a mutation. Throws MutationError, or StatusError for an object that the mutation made unreadable. */
export function mutate(mutation: Mutation, bound: cel.BoundVariables, target: { object: KubeObject; kind: ChangedKind }): KubeObject {
  const { value, error } = new Evaluator(bound, cel.RUNTIME_COST_BUDGET).evaluate(mutation);
  if (error !== undefined || value === undefined) throw new MutationError(error ?? 'no result');
  return mutation.apply(value, target.object, target.kind);
}

function patched(value: cel.CelValue, object: KubeObject, kind: ChangedKind): KubeObject {
  for (const operation of (value as cel.CelList).values()) checkTypeNames((operation as cel.JsonPatchValue).getField('value'));
  const operations = json(value) as unknown as readonly JsonPatchOperation[];
  try {
    return readChanged(kind, applyJsonPatch(object as unknown as JsonValue, operations), true);
  } catch (error) {
    // A failed `test` operation means that the patch does not apply to this object.
    if (error instanceof JsonPatchTestError) return object;
    if (error instanceof JsonPatchError) throw new MutationError(`JSON Patch: ${error.message}`);
    throw error;
  }
}

function configured(value: cel.CelValue, object: KubeObject, kind: ChangedKind): KubeObject {
  checkTypeNames(value);
  const { apiVersion = '', kind: name = '' } = object;
  const configuration = { ...(json(value) as JsonObject), apiVersion, kind: name };
  try {
    return readChanged(kind, mergeConfiguration(kind.schema, object as unknown as JsonObject, configuration), false);
  } catch (error) {
    if (error instanceof MergeConfigurationError) throw new MutationError(`error applying patch: ${error.message}`);
    throw error;
  }
}

function checkTypeNames(value: cel.CelValue | undefined): void {
  if (!(value instanceof cel.ObjectLiteralValue)) return;
  try {
    value.checkTypeNames();
  } catch (error) {
    if (error instanceof cel.EvalFailure) throw new MutationError(`type mismatch: ${error.message}`);
    throw error;
  }
}

function json(value: cel.CelValue): JsonValue {
  try {
    return cel.toJson(value);
  } catch (error) {
    if (!(error instanceof cel.EvalFailure)) throw error;
    throw new MutationError(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`);
  }
}
