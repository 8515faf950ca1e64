import { compareBytes, goQuote } from '../values/go-format.ts';
import {
  checkedRequirement,
  compileRequirement,
  type LabelOperator,
  type LabelPredicate,
  type LabelRequirement,
  type Labels,
  requirementText,
  SelectorError,
} from './label-requirement.ts';

const NO_LABELS: Labels = Object.freeze({});

/** A conjunction of requirements on labels, compiled once and matched many times. Immutable. */
export class Selector {
  static readonly everything = new Selector([]);
  /** Matches nothing, unlike the empty selector, which matches everything. */
  static readonly nothing = new Selector(undefined);

  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[];
  readonly matchesNothing: boolean;
  private readonly predicate: LabelPredicate;

  private constructor(requirements: readonly LabelRequirement[] | undefined) {
    this.matchesNothing = requirements === undefined;
    this.requirements = requirements === undefined ? [] : requirements.toSorted((a, b) => compareBytes(a.key, b.key));
    this.predicate = requirements === undefined ? () => false : conjunction(this.requirements.map(compileRequirement));
  }

  /** Valid requirements; use `checkedRequirement`. */
  static of(requirements: readonly LabelRequirement[]): Selector {
    return requirements.length === 0 ? Selector.everything : new Selector(requirements);
  }

  /** All of these labels, as a service or a replication controller selects. The values are not checked. */
  static fromLabels(labels: Labels | undefined): Selector {
    if (labels === undefined) return Selector.everything;
    return Selector.of(Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: [value] })));
  }

  /** Objects without labels may be given as undefined. */
  matches(labels: Labels | undefined): boolean {
    return this.predicate(labels ?? NO_LABELS);
  }

  /** Whether it matches everything. */
  get isEmpty(): boolean {
    return this.requirements.length === 0 && !this.matchesNothing;
  }

  add(requirements: readonly LabelRequirement[]): Selector {
    return this.matchesNothing ? this : Selector.of([...this.requirements, ...requirements]);
  }

  /** The value that the selector requires of a label, if any. */
  requiredValue(key: string): string | undefined {
    const requirement = this.requirements.find((candidate) => candidate.key === key);
    const exact = requirement !== undefined && ['=', '==', 'in'].includes(requirement.operator) && requirement.values.length === 1;
    return exact ? requirement.values[0] : undefined;
  }

  toString(): string {
    return this.requirements.map(requirementText).join(',');
  }
}

function conjunction(predicates: readonly LabelPredicate[]): LabelPredicate {
  const [first, second] = predicates;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (predicates.length === 2) return (labels) => first(labels) && second(labels);
  return (labels) => predicates.every((predicate) => predicate(labels));
}

/** metav1.LabelSelector: the selector inside objects. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const OBJECT_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);
const OPERATOR_NAMES: ReadonlyMap<LabelOperator, string> = new Map([...OBJECT_OPERATORS].map(([name, operator]) => [operator, name]));

/** The selector of an object's field: an absent one matches nothing, an empty one everything. Throws SelectorError. */
export function selectorFromObject(object: LabelSelectorObject | null | undefined): Selector {
  if (object === null || object === undefined) return Selector.nothing;
  const equalities = Object.entries(object.matchLabels ?? {}).map(([key, value]) =>
    checkedRequirement({ key, operator: '=', values: [value] }),
  );
  return Selector.of([...equalities, ...(object.matchExpressions ?? []).map(requirementFromExpression)]);
}

/** The same for filtering many objects. An invalid selector, which only an older server could have stored, matches nothing. */
export function lenientSelector(object: LabelSelectorObject | null | undefined): Selector {
  try {
    return selectorFromObject(object);
  } catch (error) {
    if (error instanceof SelectorError) return Selector.nothing;
    throw error;
  }
}

function requirementFromExpression({ key, operator, values = [] }: LabelSelectorExpression): LabelRequirement {
  const labelOperator = OBJECT_OPERATORS.get(operator);
  if (labelOperator === undefined) throw new SelectorError(`${goQuote(operator)} is not a valid label selector operator`);
  return checkedRequirement({ key, operator: labelOperator, values });
}

/** The object form of a selector; `gt` and `lt` have none. Throws SelectorError. */
export function selectorToObject(selector: Selector): LabelSelectorObject {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: LabelSelectorExpression[] = [];
  for (const { key, operator, values } of selector.requirements) {
    if (operator === '=' || operator === '==') matchLabels[key] = values[0] ?? '';
    else matchExpressions.push({ key, operator: operatorName(operator), values });
  }
  return { matchLabels, matchExpressions };
}

function operatorName(operator: LabelOperator): string {
  const name = OPERATOR_NAMES.get(operator);
  if (name === undefined) throw new SelectorError(`${goQuote(operator)} isn't supported in label selectors`);
  return name;
}

/** How messages and tables print the object form: `<none>`, `<error>` or the selector's text. */
export function labelSelectorText(object: LabelSelectorObject | null | undefined): string {
  try {
    const text = selectorFromObject(object).toString();
    return text === '' ? '<none>' : text;
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}

/** How Go prints the object form, which is how it stands in some messages. */
export function labelSelectorGoText(object: LabelSelectorObject | null | undefined): string {
  if (object === null || object === undefined) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = object;
  const keys = Object.keys(matchLabels).sort(compareBytes);
  const labels = keys.map((key) => `${key}: ${matchLabels[key]},`).join('');
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

/** Labels as `a=b,c=d`, sorted by key. */
export function labelsText(labels: Labels): string {
  const keys = Object.keys(labels).sort(compareBytes);
  return keys.map((key) => `${key}=${labels[key]}`).join(',');
}
