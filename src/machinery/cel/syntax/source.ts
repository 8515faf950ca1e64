/** A place in an expression: lines count from 1, columns (in characters) from 0. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The location of errors about the whole expression. */
export const NO_LOCATION: Location = { line: -1, column: -1 };

/** One thing wrong with an expression. */
export interface Issue {
  readonly message: string;
  readonly location: Location;
}

const MAX_REPORTED = 100;
const MAX_SNIPPET_LENGTH = 16384;

/** An expression's text. Offsets count characters, not UTF-16 units. */
export class Source {
  readonly text: string;
  readonly characters: readonly string[];
  private readonly lineStarts: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.characters = Array.from(text);
    const starts = [0];
    this.characters.forEach((char, i) => {
      if (char === '\n') starts.push(i + 1);
    });
    this.lineStarts = starts;
  }

  locationOf(offset: number): Location {
    // Upstream reports an empty expression before its first column.
    if (this.characters.length === 0) return { line: 1, column: -1 };
    let line = 1;
    while (line < this.lineStarts.length && (this.lineStarts[line] ?? 0) <= offset) line++;
    return { line, column: offset - (this.lineStarts[line - 1] ?? 0) };
  }

  private snippet(line: number): readonly string[] | undefined {
    const start = this.lineStarts[line - 1];
    if (start === undefined || this.characters.length === 0) return undefined;
    const next = this.lineStarts[line];
    return this.characters.slice(start, next === undefined ? undefined : next - 1);
  }

  /** An issue with the line it is in and a pointer to the place, as the API server prints it. */
  format(issue: Issue): string {
    const { line, column } = issue.location;
    const head = `ERROR: <input>:${line}:${column + 1}: ${issue.message}`;
    const snippet = this.snippet(line);
    if (snippet === undefined || snippet.length > MAX_SNIPPET_LENGTH) return head;
    const chars = snippet.map((char) => (char === '\t' ? ' ' : char));
    const dots = chars.slice(0, Math.max(column, 0)).map((char) => (isWide(char) ? '\uff0e' : '.'));
    const pointer = isWide(chars[column] ?? '') ? '\uff3e' : '^';
    return `${head}\n | ${chars.join('')}\n | ${dots.join('')}${pointer}`;
  }

  /** All issues, in the order of their places. */
  formatAll(issues: readonly Issue[]): string {
    const reported = issues.slice(0, MAX_REPORTED).sort(byLocation);
    const lines = reported.map((issue) => this.format(issue));
    if (issues.length > MAX_REPORTED) lines.push(`${issues.length - MAX_REPORTED} more errors were truncated`);
    return lines.join('\n');
  }
}

function isWide(char: string): boolean {
  return (char.codePointAt(0) ?? 0) > 0x7f;
}

function byLocation(a: Issue, b: Issue): number {
  return a.location.line - b.location.line || a.location.column - b.location.column;
}
