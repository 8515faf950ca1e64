/** After these tokens a slash starts a regular expression, not a division. */
const BEFORE_REGEX = /(^|[([{,;:=!&|?+\-*%~^<>]|\b(return|typeof|case|in|of|do|else|void|delete|throw|yield|await))\s*$/;

const SPECIAL = /[/"'`{}]/g;

/**
 * The source with the contents of comments, strings, templates and regular expressions blanked out, with the same length and lines: only
 * code is left. For formatted TypeScript; not a parser.
 */
export function maskSource(source: string): string {
  return new Masker(source).run();
}

export interface RegexLiteral {
  readonly source: string;
  readonly flags: string;
  /** Its offset. */
  readonly offset: number;
}

/** The regular expressions of a source. */
export function regexLiterals(source: string): readonly RegexLiteral[] {
  const masker = new Masker(source);
  masker.run();
  return masker.literals;
}

class Masker {
  readonly literals: RegexLiteral[] = [];
  readonly #source: string;
  #out = '';
  #at = 0;
  /** For each open template: the number of open braces inside its current `${…}`. */
  readonly #templates: number[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  run(): string {
    while (this.#at < this.#source.length) this.#step();
    return this.#out;
  }

  #step(): void {
    const two = this.#source.slice(this.#at, this.#at + 2);
    const character = two[0] as string;
    if (two === '//') this.#blank(this.#end('\n'));
    else if (two === '/*') this.#blank(this.#end('*/', 2));
    else if (character === '"' || character === "'") this.#quoted(character);
    else if (character === '`') this.#template();
    else if (character === '/' && BEFORE_REGEX.test(this.#out.slice(-20))) this.#regex();
    else if (character === '{' || character === '}') this.#brace(character);
    else this.#keep(this.#plainLength());
  }

  /** The number of characters before the next one with a meaning; at least one. */
  #plainLength(): number {
    SPECIAL.lastIndex = this.#at + 1;
    return (SPECIAL.exec(this.#source)?.index ?? this.#source.length) - this.#at;
  }

  #end(text: string, length = 0): number {
    const index = this.#source.indexOf(text, this.#at + length);
    return index === -1 ? this.#source.length : index + length;
  }

  #keep(count: number): void {
    this.#out += this.#source.slice(this.#at, this.#at + count);
    this.#at += count;
  }

  #blank(until: number): void {
    this.#out += this.#source.slice(this.#at, until).replace(/[^\n]/g, ' ');
    this.#at = until;
  }

  /** Keeps the quotes, so that an empty string is still recognizable. */
  #quoted(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#source.length && this.#source[end] !== quote && this.#source[end] !== '\n') {
      end += this.#source[end] === '\\' ? 2 : 1;
    }
    this.#keep(1);
    this.#blank(end);
    this.#keep(1);
  }

  #regex(): void {
    let end = this.#at + 1;
    for (let inClass = false; end < this.#source.length; end++) {
      const char = this.#source[end];
      if (char === '\\') end++;
      else if (char === '[') inClass = true;
      else if (char === ']') inClass = false;
      else if (char === '\n' || (char === '/' && !inClass)) break;
    }
    const flags = /^[a-z]*/.exec(this.#source.slice(end + 1, end + 10))![0];
    this.literals.push({ source: this.#source.slice(this.#at + 1, end), flags, offset: this.#at });
    this.#keep(1);
    this.#blank(end);
    this.#keep(1);
  }

  #brace(brace: '{' | '}'): void {
    const depth = this.#templates.length - 1;
    this.#keep(1);
    if (depth < 0) return;
    if (brace === '{') this.#templates[depth] = (this.#templates[depth] as number) + 1;
    else if (this.#templates[depth] === 0) {
      this.#templates.pop();
      this.#templateText();
    } else this.#templates[depth] = (this.#templates[depth] as number) - 1;
  }

  #template(): void {
    this.#keep(1);
    this.#templateText();
  }

  #templateText(): void {
    let end = this.#at;
    while (end < this.#source.length && this.#source[end] !== '`' && this.#source.slice(end, end + 2) !== '${') {
      end += this.#source[end] === '\\' ? 2 : 1;
    }
    this.#blank(Math.min(end, this.#source.length));
    if (this.#source[end] === '`') this.#keep(1);
    else if (end < this.#source.length) {
      this.#keep(2);
      this.#templates.push(0);
    }
  }
}
