import { pushAll } from '#base';
import { FieldError, type Path, structural } from '#machinery';
import type { JSONSchemaProps } from './custom-resource-definition-spec.ts';
import { printedRule } from './internal-definition.ts';

interface NodeOptions {
  readonly isRoot: boolean;
  readonly uncorrelated: Path | undefined;
  readonly suppressPerExpressionCost: boolean;
}

/** The rules of a schema, collected during the walk: the cardinality of each, and the total cost. */
export class RuleContext {
  static root(): RuleContext {
    return new RuleContext(new TotalCost(), 1);
  }

  private constructor(
    private readonly total: TotalCost,
    /** The maximum number of values of this node in an object; undefined if unbounded. */
    private readonly cardinality: number | undefined,
  ) {}

  /** The context of a property, of items or of the values of a map. */
  below(schema: JSONSchemaProps, _child: JSONSchemaProps): RuleContext {
    const most = maxElements(schema);
    const bounded = this.cardinality !== undefined && most !== undefined;
    return new RuleContext(this.total, bounded ? structural.multiplyCost(this.cardinality as number, most as number) : undefined);
  }

  /** Compiles the rules of a node. */
  check(schema: JSONSchemaProps, path: Path, options: NodeOptions): FieldError[] {
    const type = structural.ruleTypeOf(schema, options.isRoot || schema['x-kubernetes-embedded-resource'] === true);
    if (type === undefined) {
      const reason = 'internal error: failed to construct type information for x-kubernetes-validations rules';
      return [FieldError.internalError(path, new Error(`${reason}: unable to convert structural schema to CEL declarations`))];
    }
    return structural.compileRules(schema, type).flatMap((rule, i) => this.checkRule(rule, path.index(i), options));
  }

  private checkRule(compiled: structural.CompiledRule, path: Path, options: NodeOptions): FieldError[] {
    const cost = structural.multiplyCost(compiled.maxCost, this.cardinality ?? compiled.maxCardinality);
    const errors = [...this.costErrors('rule', cost, { path, options })];
    const at = path.child('rule');
    if (compiled.error !== undefined) errors.push(FieldError.invalid(at, printedRule(compiled.rule), compiled.error));
    if (compiled.messageError !== undefined) {
      errors.push(FieldError.invalid(path.child('messageExpression'), printedRule(compiled.rule), compiled.messageError));
    } else if (compiled.message !== undefined) {
      pushAll(errors, this.costErrors('messageExpression', compiled.messageMaxCost, { path, options }));
    }
    return [...errors, ...oldSelfErrors(compiled, path, options)];
  }

  private costErrors(
    field: 'rule' | 'messageExpression',
    cost: number,
    { path, options }: { path: Path; options: NodeOptions },
  ): FieldError[] {
    const at = path.child(field);
    this.total.observe(at, cost);
    if (options.suppressPerExpressionCost || cost <= structural.STATIC_ESTIMATED_COST_LIMIT) return [];
    return [FieldError.forbidden(at, structural.costErrorMessage(`estimated ${field} cost`, cost, structural.STATIC_ESTIMATED_COST_LIMIT))];
  }

  /** Errors of the rules as a whole. */
  totalErrors(path: Path): FieldError[] {
    const { total, mostExpensive } = this.total;
    if (total <= structural.STATIC_ESTIMATED_CRD_COST_LIMIT) return [];
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const subject = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...mostExpensive.map((rule) => FieldError.forbidden(rule.path, detail)),
      FieldError.forbidden(path, structural.costErrorMessage(subject, total, structural.STATIC_ESTIMATED_CRD_COST_LIMIT)),
    ];
  }
}

function oldSelfErrors({ usesOldSelf, rule }: structural.CompiledRule, path: Path, { uncorrelated }: NodeOptions): FieldError[] {
  if (usesOldSelf) {
    if (uncorrelated === undefined) return [];
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
    return [FieldError.invalid(path.child('rule'), rule.rule, detail)];
  }
  if (rule.optionalOldSelf === undefined) return [];
  return [FieldError.invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule')];
}

function maxElements(schema: JSONSchemaProps): number | undefined {
  if (schema.type === 'object' && schema.additionalProperties !== undefined) return bound(schema.maxProperties);
  return schema.type === 'array' ? bound(schema.maxItems) : 1;
}

function bound(limit: number | undefined): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit);
}

const NAMED_RULES = 4;

class TotalCost {
  total = 0;
  mostExpensive: { readonly path: Path; readonly cost: number }[] = [];

  observe(path: Path, cost: number): void {
    this.total += cost;
    // Cheap rules are not blamed.
    if (cost < structural.STATIC_ESTIMATED_CRD_COST_LIMIT / 100) return;
    this.mostExpensive = [...this.mostExpensive, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, NAMED_RULES);
  }
}

/** Validates defaults against the rules of their schema, within one budget. */
export function checkDefaultRules(): structural.DefaultRuleCheck {
  let remaining = structural.RUNTIME_COST_BUDGET;
  return (schema, value, { path, isResource }) => {
    const validator = remaining < 0 ? undefined : structural.RuleValidator.of(schema, isResource);
    if (validator === undefined) return [];
    // A default must be valid both as an old and as a new value.
    const asUpdate = validator.validate({ path, value, old: value, budget: remaining });
    const asCreate = asUpdate.errors.length > 0 ? asUpdate : validator.validate({ path, value, budget: remaining });
    remaining = Math.min(asUpdate.remaining, asCreate.remaining);
    return asUpdate.errors.length > 0 ? asUpdate.errors : asCreate.errors;
  };
}
