import { pushAll } from '#base';
import { FieldError } from '../errors/field-error.ts';
import { Path } from '../errors/field-path.ts';
import { compareBytes } from '../values/go-format.ts';
import { checkLabelKey } from '../values/names.ts';
import { BINARY_OPERATORS, checkedRequirement, type LabelOperator, type LabelRequirement, SelectorError } from './label-requirement.ts';
import { Selector } from './label-selector.ts';

type TokenKind = 'end' | 'identifier' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '<' | '>' | 'in' | 'notin';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const SYMBOLS = new Set(['(', ')', ',', '!', '=', '==', '!=', '<', '>']);
const TOKEN = /[ \t\r\n]+|[=!(),<>]+|[^ \t\r\n=!(),<>]+/g;
const OPERATORS: ReadonlyMap<TokenKind, LabelOperator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** Parses `a=b,c in (d,e),!f`. Throws SelectorError with the API's texts; `path` is named in errors about a key. */
export function parseLabelSelector(text: string, path: Path = Path.none): Selector {
  return Selector.of(new Parser(scan(text), path).parse());
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [run] of text.matchAll(TOKEN)) {
    const first = run[0] ?? '';
    if (' \t\r\n'.includes(first)) continue;
    if ('=!(),<>'.includes(first)) pushAll(tokens, splitSymbols(run));
    else tokens.push({ kind: run === 'in' || run === 'notin' ? run : 'identifier', text: run });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

/** Splits `==!` and the like, longest symbol first. */
function splitSymbols(run: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < run.length; ) {
    const two = run.slice(i, i + 2);
    const symbol = two.length === 2 && SYMBOLS.has(two) ? two : run.slice(i, i + 1);
    tokens.push({ kind: symbol as TokenKind, text: symbol });
    i += symbol.length;
  }
  return tokens;
}

class Parser {
  private position = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly path: Path,
  ) {}

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.peek().kind !== 'end') {
      if (!this.startsRequirement()) throw new SelectorError(`found '${this.peek().text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.requirementOrFail());
      if (this.atEnd()) break;
    }
    return requirements;
  }

  private startsRequirement(): boolean {
    const { kind } = this.peek();
    return kind === 'identifier' || kind === '!';
  }

  /** After a requirement: the end, or a comma with another one behind it. */
  private atEnd(): boolean {
    const token = this.next();
    if (token.kind === 'end') return true;
    if (token.kind !== ',') throw new SelectorError(`found '${token.text}', expected: ',' or 'end of string'`);
    if (!this.startsRequirement()) throw new SelectorError(`found '${this.peek().text}', expected: identifier after ','`);
    return false;
  }

  private requirementOrFail(): LabelRequirement {
    try {
      return this.requirement();
    } catch (error) {
      if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  private requirement(): LabelRequirement {
    const negated = this.peek().kind === '!';
    if (negated) this.position++;
    const key = this.key();
    if (negated) return this.checked({ key, operator: '!', values: [] });
    const { kind } = this.peek();
    if (kind === 'end' || kind === ',') return this.checked({ key, operator: 'exists', values: [] });
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.values() : this.exactValue();
    return this.checked({ key, operator, values: [...new Set(values)].sort(compareBytes) });
  }

  private checked(requirement: LabelRequirement): LabelRequirement {
    return checkedRequirement(requirement, this.path);
  }

  private key(): string {
    const token = this.next();
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    const problems = checkLabelKey(token.text);
    if (problems.length > 0) throw new SelectorError(String(FieldError.invalid(this.path, token.text, problems.join('; '))));
    return token.text;
  }

  private operator(): LabelOperator {
    const token = this.nextRaw();
    const operator = OPERATORS.get(token.kind);
    if (operator === undefined) throw new SelectorError(`found '${token.text}', expected: ${BINARY_OPERATORS.join(', ')}`);
    return operator;
  }

  private values(): string[] {
    const open = this.next();
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const { kind, text } = this.peek();
    if (kind === ')') {
      this.position++;
      return [''];
    }
    if (kind !== 'identifier' && kind !== ',') throw new SelectorError(`found '${text}', expected: ',', ')' or identifier`);
    const values = this.valueList();
    this.position++;
    return values;
  }

  /** Up to the closing parenthesis. An empty place between commas is the empty value. */
  private valueList(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.next();
      if (token.kind === 'identifier') {
        values.push(token.text);
        if (this.peek().kind === ')') return values;
        if (this.peek().kind !== ',') throw new SelectorError(`found '${this.peek().text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        if (this.peek().kind === ')') return [...values, ''];
        if (this.peek().kind === ',') values.push('');
      } else throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
    }
  }

  private exactValue(): string[] {
    const { kind } = this.peek();
    if (kind === 'end' || kind === ',') return [''];
    const token = this.next();
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    return [token.text];
  }

  /** `in` and `notin` are keywords only where an operator stands; elsewhere they are names. */
  private peek(): Token {
    return asIdentifier(this.tokens[this.position] ?? END);
  }

  private next(): Token {
    return asIdentifier(this.nextRaw());
  }

  private nextRaw(): Token {
    const token = this.tokens[this.position] ?? END;
    this.position++;
    return token;
  }
}

const END: Token = { kind: 'end', text: '' };

function asIdentifier(token: Token): Token {
  return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
}
