import {
  BOOL,
  type CelProgram,
  type CelType,
  compile,
  declaredSizes,
  maxCardinality,
  optionalType,
  type SizeEstimator,
  STRING,
} from '../cel/index.ts';
import type { JsonSchema, ValidationRule } from './json-schema.ts';
import { followSchemaPath, SchemaPathError } from './schema-path.ts';

/** A compiled rule of a schema, or its error. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent if the rule is invalid or empty. */
  readonly program?: CelProgram;
  readonly error?: string;
  /** It uses the old value, so it only runs if there is one (unless that is optional). */
  readonly usesOldSelf: boolean;
  /** The most that one evaluation can cost. */
  readonly maxCost: number;
  /** How often the rule could run on one object, if no enclosing schema bounds it. */
  readonly maxCardinality: number;
  readonly message?: CelProgram;
  readonly messageError?: string;
  readonly messageMaxCost: number;
  /** The error path relative to the rule's node. */
  readonly fieldPath: string;
}

/** Compiles the rules of a node (not those below). */
export function compileRules(schema: JsonSchema, type: CelType): CompiledRule[] {
  return (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, schema, type));
}

function compileRule(rule: ValidationRule, schema: JsonSchema, type: CelType): CompiledRule {
  const cardinality = maxCardinality(type.traits.minSerializedSize ?? 0);
  const emptyRule: CompiledRule = { rule, usesOldSelf: false, maxCost: 0, maxCardinality: cardinality, messageMaxCost: 0, fieldPath: '' };
  if (rule.rule.trim() === '') return emptyRule;
  const variables = { self: type, oldSelf: rule.optionalOldSelf === true ? optionalType(type) : type };
  const result = compile(rule.rule, { variables, resultTypes: [BOOL] });
  if (!result.ok) return { ...emptyRule, error: ruleProblem(result) };
  const { program } = result;
  const sizes = ruleSizes(variables);
  const usesOldSelf = program.variables.has('oldSelf');
  const compiled = { ...emptyRule, program, usesOldSelf, maxCost: program.estimateCost(sizes).max };
  return { ...compiled, ...compileMessage(rule, variables, sizes), fieldPath: normalPath(rule.fieldPath ?? '', schema) };
}

function ruleProblem({ stage, message }: { stage: 'compile' | 'result' | 'program'; message: string }): string {
  if (stage === 'result') return 'cel expression must evaluate to a bool';
  return stage === 'compile' ? `compilation failed: ${message}` : `program instantiation failed: ${message}`;
}

type Variables = Readonly<Record<string, CelType>>;
type Message = Pick<CompiledRule, 'message' | 'messageError'> & { readonly messageMaxCost: number };

function compileMessage({ messageExpression = '' }: ValidationRule, variables: Variables, sizes: SizeEstimator): Message {
  if (messageExpression === '') return { messageMaxCost: 0 };
  const result = compile(messageExpression, { variables, resultTypes: [STRING] });
  if (result.ok) return { message: result.program, messageMaxCost: result.program.estimateCost(sizes).max };
  return { messageError: messageProblem(result), messageMaxCost: 0 };
}

function messageProblem({ stage, message }: { stage: 'compile' | 'result' | 'program'; message: string }): string {
  if (stage === 'result') return 'messageExpression must evaluate to a string';
  return `messageExpression ${stage === 'compile' ? 'compilation' : 'instantiation'} failed: ${message}`;
}

// Upstream's estimates treat map keys as empty.
function ruleSizes(variables: Variables): SizeEstimator {
  const declared = declaredSizes(variables);
  return (path, type) => (path.at(-1) === '@keys' ? { min: 0, max: 0 } : declared(path, type));
}

function normalPath(text: string, schema: JsonSchema): string {
  if (text === '') return '';
  try {
    return String(followSchemaPath(text, schema).path);
  } catch (error) {
    if (error instanceof SchemaPathError) return '';
    throw error;
  }
}
