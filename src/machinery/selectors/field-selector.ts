import { compareBytes } from '../values/go-format.ts';
import { SelectorError } from './label-requirement.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** An object's selectable fields; missing ones are empty. */
export type SelectableFields = Readonly<Record<string, string>>;

/** Converts a requirement to the field's current name; undefined drops it. Throws for unsupported fields. */
export type FieldTransform = (field: string, value: string) => { readonly field: string; readonly value: string } | undefined;

/** A conjunction of requirements on fields. Immutable. */
export class FieldSelector {
  static readonly everything = new FieldSelector([]);

  private constructor(readonly requirements: readonly FieldRequirement[]) {}

  static of(requirements: readonly FieldRequirement[]): FieldSelector {
    return requirements.length === 0 ? FieldSelector.everything : new FieldSelector(requirements);
  }

  matches(fields: SelectableFields): boolean {
    return this.matchesBy((field) => (Object.hasOwn(fields, field) ? fields[field] : ''));
  }

  /** As `matches`, with fields computed on demand. */
  matchesBy(lookup: (field: string) => string | undefined): boolean {
    for (const { field, operator, value } of this.requirements) {
      if (((lookup(field) ?? '') === value) !== (operator === '=')) return false;
    }
    return true;
  }

  get isEmpty(): boolean {
    return this.requirements.length === 0;
  }

  /** The value that the selector requires of a field, if any. */
  requiredValue(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  transform(change: FieldTransform): FieldSelector {
    return FieldSelector.of(
      this.requirements.flatMap(({ field, operator, value }) => {
        const next = change(field, value);
        return next === undefined ? [] : [{ field: next.field, operator, value: next.value }];
      }),
    );
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => field + operator + escapeFieldValue(value)).join(',');
  }
}

/** Parses `a=b,c!=d`. Throws SelectorError with the API's texts. */
export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text).filter((term) => term !== '');
  return FieldSelector.of(terms.sort(compareBytes).map((term) => parseTerm(term, text)));
}

export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** At commas that no backslash escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const match = /!=|==|=/.exec(term);
  if (match === null) throw new SelectorError(`invalid selector: '${selector}'; can't understand '${term}'`);
  const value = unescapeValue(term.slice(match.index + match[0].length));
  return { field: term.slice(0, match.index), operator: match[0] === '!=' ? '!=' : '=', value };
}

function unescapeValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  return value.replace(/\\(.?)|[,=]/gsu, (match: string, escaped: string | undefined) => {
    // Upstream prints the character's number.
    if (escaped === undefined) throw new SelectorError(`invalid field selector: unescaped character in value: ${match.charCodeAt(0)}`);
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw new SelectorError(`invalid field selector: invalid escape sequence: ${match}`);
    }
    return escaped;
  });
}
