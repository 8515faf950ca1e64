import { runSteps } from '#base';
import {
  CelOptional,
  type CelType,
  escapeIdentifier,
  fromNative,
  MAX_MESSAGE_SIZE,
  RUNTIME_COST_BUDGET,
  schemaType,
  type TypedSchema,
} from '../cel/index.ts';
import { FieldError, MAX_FIELD_ERRORS, OMITTED } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';
import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import { type Correlation, ListMap } from './correlation.ts';
import { additionalOf, isEmbeddedResource, itemsOf, type JsonSchema, propertiesOf, type ValidationRule } from './json-schema.ts';

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

export interface RuleResult {
  readonly errors: readonly FieldError[];
  /** Rule violations of unchanged values, reported as warnings. */
  readonly warnings: readonly string[];
  /** Negative if the budget was exceeded. */
  readonly remaining: number;
}

export interface RuleInput {
  readonly path: Path;
  readonly value: JsonValue;
  /** The old value; undefined on create and for values that cannot be correlated. */
  readonly old?: JsonValue | undefined;
  /** Ignores errors of unchanged values. */
  readonly correlation?: Correlation | undefined;
  readonly budget?: number;
}

/** The type of a schema's values in rules; undefined if rules cannot access them. */
export function ruleTypeOf(schema: JsonSchema, isResource: boolean): CelType | undefined {
  return schemaType(schema as TypedSchema, { name: 'selfType', isResourceRoot: isResource });
}

/** The CEL rules of a schema, its own and all below. */
export class RuleValidator {
  /** Undefined for a schema without rules. */
  static of(schema: JsonSchema, isResource: boolean): RuleValidator | undefined {
    return RuleValidator.build(schema, ruleTypeOf(schema, isResource));
  }

  private static build(schema: JsonSchema, type: CelType | undefined): RuleValidator | undefined {
    const validator = new RuleValidator(schema, type);
    return validator.isEmpty ? undefined : validator;
  }

  private readonly rules: readonly CompiledRule[];
  private readonly items: RuleValidator | undefined;
  private readonly additional: RuleValidator | undefined;
  private readonly properties: ReadonlyMap<string, RuleValidator>;

  private constructor(
    private readonly schema: JsonSchema,
    private readonly type: CelType | undefined,
  ) {
    this.rules = type === undefined ? [] : compileRules(schema, type);
    const items = itemsOf(schema);
    this.items = items && RuleValidator.build(items, type?.params[0]);
    const additional = additionalOf(schema);
    this.additional = additional && RuleValidator.build(additional, type?.params[1]);
    this.properties = new Map(propertiesOf(schema).flatMap(([name, property]) => this.buildProperty(name, property)));
  }

  private buildProperty(name: string, property: JsonSchema): [string, RuleValidator][] {
    const escaped = escapeIdentifier(name);
    const declared = escaped === undefined ? ruleTypeOf(property, isEmbeddedResource(property)) : this.type?.traits.fields?.(escaped)?.type;
    const validator = declared && RuleValidator.build(property, declared);
    return validator === undefined ? [] : [[name, validator]];
  }

  private get isEmpty(): boolean {
    return this.rules.length === 0 && this.items === undefined && this.additional === undefined && this.properties.size === 0;
  }

  validate(input: RuleInput): RuleResult {
    return runSteps(this.steps(input));
  }

  /** The same, with pauses. */
  *steps({ path, value, old, correlation, budget = RUNTIME_COST_BUDGET }: RuleInput): Generator<void, RuleResult> {
    const run = new RuleRun(budget);
    yield* this.visit({ path, value, old: old ?? undefined, ratchet: { current: correlation, parent: undefined } }, run);
    return run;
  }

  /** Whether no schema below has rules. */
  private get isLeaf(): boolean {
    return this.items === undefined && this.additional === undefined && this.properties.size === 0;
  }

  private *visit(node: Node, run: RuleRun): Generator<void, void> {
    const { value } = node;
    if (value === null || run.remaining < 0) return;
    if (this.rules.length > 0) this.runRules(node, run);
    if (run.isPauseDue()) yield;
    if (isJsonArray(value)) yield* this.visitItems(value, node, run);
    else if (isJsonObject(value)) yield* this.visitMembers(value, node, run);
  }

  private *visitItems(list: readonly JsonValue[], node: Node, run: RuleRun): Generator<void, void> {
    const { items } = this;
    if (items === undefined) return;
    const oldItems = new ListMap(this.schema, isJsonArray(node.old) ? node.old : []);
    for (const [i, value] of list.entries()) {
      if (run.remaining < 0) return;
      const item = { path: node.path.index(i), value, old: oldItems.get(value), ratchet: ratchetAtIndex(node.ratchet, i) };
      if (!items.isLeaf) yield* items.visit(item, run);
      else {
        if (value !== null) items.runRules(item, run);
        if (run.isPauseDue()) yield;
      }
    }
  }

  private *visitMembers(object: JsonObject, node: Node, run: RuleRun): Generator<void, void> {
    const oldObject = isJsonObject(node.old) ? node.old : undefined;
    for (const name of Object.keys(object)) {
      const declared = this.properties.get(name);
      const validator = declared ?? this.additional;
      if (validator === undefined) continue;
      const path = declared === undefined ? node.path.key(name) : node.path.child(name);
      const old = oldObject && getKey(oldObject, name);
      yield* validator.visit(
        { path, value: object[name] as JsonValue, old: old ?? undefined, ratchet: ratchetAtKey(node.ratchet, name) },
        run,
      );
    }
  }

  private runRules(node: Node, run: RuleRun): void {
    const typeName = this.schema.type ?? '';
    if (run.remaining === 0) {
      run.stop(FieldError.invalid(node.path, typeName, OUT_OF_BUDGET));
      return;
    }
    for (const rule of this.rules) {
      if (run.remaining < 0) return;
      this.runRule(rule, node, run);
    }
  }

  private runRule(compiled: CompiledRule, node: Node, run: RuleRun): void {
    const { rule, program } = compiled;
    const typeName = this.schema.type ?? '';
    if (compiled.error !== undefined) run.errors.push(FieldError.invalid(node.path, typeName, `rule compile error: ${compiled.error}`));
    if (program === undefined || (compiled.usesOldSelf && node.old === undefined && rule.optionalOldSelf !== true)) return;
    const activation = this.activation(rule, node);
    const outcome = program.run(activation);
    if (outcome.cost > run.remaining) {
      run.stop(FieldError.invalid(node.path, typeName, OUT_OF_BUDGET));
      return;
    }
    run.remaining -= outcome.cost;
    if (outcome.error !== undefined) {
      const error = FieldError.invalid(node.path, typeName, failureText(outcome.error, rule));
      if (outcome.error.kind === 'cost') run.stop(error);
      else run.report(error);
    } else if (outcome.value !== true) this.report(compiled, node, run);
  }

  private activation({ optionalOldSelf }: ValidationRule, { value, old }: Node): Readonly<Record<string, unknown>> {
    if (optionalOldSelf !== true) return old === undefined ? { self: value } : { self: value, oldSelf: old };
    const type = this.type as CelType;
    return { self: value, oldSelf: old === undefined ? CelOptional.none : CelOptional.of(fromNative(old, type)) };
  }

  private report(compiled: CompiledRule, node: Node, run: RuleRun): void {
    const { rule, fieldPath } = compiled;
    const path = fieldPath === '' ? node.path : node.path.child(fieldPath);
    const isComposite = this.schema.type === 'object' || this.schema.type === 'array';
    const add = (error: FieldError): void => {
      if (!compiled.usesOldSelf && isUnchanged(node.ratchet)) run.warnings.push(String(error));
      else run.report(error);
    };
    const message = this.evaluateMessage(compiled, node, run);
    if (message.fatal !== undefined) {
      add(FieldError.invalid(path, this.schema.type ?? '', message.fatal));
      run.remaining = -1;
      return;
    }
    const detail = message.text ?? (rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`);
    add(errorForReason(rule.reason, { path, value: isComposite ? OMITTED : node.value, detail }));
  }

  // A failing messageExpression falls back to the fixed message; exceeding the cost ends the validation.
  private evaluateMessage({ message, rule }: CompiledRule, { value }: Node, run: RuleRun): { text?: string; fatal?: string } {
    if (message === undefined) return {};
    const outcome = message.run({ self: value });
    if (outcome.cost > run.remaining) {
      return { fatal: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run' };
    }
    if (outcome.error?.kind === 'cost') {
      const source = JSON.stringify(rule.messageExpression ?? '');
      return { fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}` };
    }
    run.remaining -= outcome.cost;
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_SIZE ? {} : { text };
  }
}

interface Node {
  readonly path: Path;
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly ratchet: Ratchet;
}

/** The old value, or that of the nearest ancestor that can be correlated. */
interface Ratchet {
  readonly current: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

function isUnchanged({ current, parent }: Ratchet): boolean {
  return (current ?? parent)?.unchanged() === true;
}

function ratchetAtKey(ratchet: Ratchet, name: string): Ratchet {
  if (ratchet.current === undefined) return ratchet;
  // apiVersion and kind are the same in the old and the new object.
  if (ratchet.parent === undefined && (name === 'apiVersion' || name === 'kind')) return { current: undefined, parent: undefined };
  return { current: ratchet.current.key(name), parent: ratchet.current };
}

function ratchetAtIndex(ratchet: Ratchet, index: number): Ratchet {
  return ratchet.current === undefined ? ratchet : { current: ratchet.current.index(index), parent: ratchet.current };
}

const PAUSE_NODES = 1000;
/** A few milliseconds' worth. */
const PAUSE_COST = 20_000;

class RuleRun implements RuleResult {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  remaining: number;
  #sincePause = 0;
  #pausedAt: number;

  constructor(budget: number) {
    this.remaining = budget;
    this.#pausedAt = budget;
  }

  /** To be called between rules: after many, or after expensive ones. */
  isPauseDue(): boolean {
    if (++this.#sincePause < PAUSE_NODES && this.#pausedAt - this.remaining < PAUSE_COST) return false;
    this.#sincePause = 0;
    this.#pausedAt = this.remaining;
    return true;
  }

  /** More errors than any response prints end the run. */
  report(error: FieldError): void {
    this.errors.push(error);
    if (this.errors.length >= MAX_FIELD_ERRORS) this.remaining = -1;
  }

  stop(error: FieldError): void {
    this.errors.push(error);
    this.remaining = -1;
  }
}

function ruleText({ message, rule }: ValidationRule): string {
  return message ? message.trim() : rule.trim();
}

function failureText({ message, kind }: { message: string; kind: 'evaluation' | 'cost' }, rule: ValidationRule): string {
  const text = ruleText(rule);
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`;
  }
  if (kind === 'cost') return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`;
  return `${message} evaluating rule: ${text}`;
}

function errorForReason(reason: string | undefined, { path, value, detail }: { path: Path; value: unknown; detail: string }): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return FieldError.forbidden(path, detail);
    case 'FieldValueRequired':
      return FieldError.required(path, detail);
    case 'FieldValueDuplicate':
      return FieldError.duplicate(path, value);
    default:
      return FieldError.invalid(path, value, detail);
  }
}
