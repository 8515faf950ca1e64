import { parseIp } from '#base';

/** Whether Go's net/mail parses a text as exactly one mail address: bare, with a display name or comments, or as a group of one. */
export function isMailAddress(text: string): boolean {
  return new AddressReader(text).isOneAddress();
}

const SPECIALS = new Set('()<>[]:;@\\,"');
const ENCODED_WORD = /^=\?([^?]+)\?([bBqQ])\?([^?]*)\?=$/;
const SUPPORTED_CHARSETS = new Set(['utf-8', 'iso-8859-1', 'us-ascii']);

/** A forward-only parser; a failed attempt resets the position or ends parsing. */
class AddressReader {
  private at = 0;
  private readonly chars: readonly string[];

  constructor(text: string) {
    this.chars = [...text];
  }

  isOneAddress(): boolean {
    return this.address(true) === 1 && this.skipComments() && this.isAtEnd();
  }

  /** The number of addresses, or undefined if the text is invalid. */
  private address(mayBeGroup: boolean): number | undefined {
    this.skipSpace();
    if (this.isAtEnd()) return undefined;
    const start = this.at;
    if (this.addrSpec()) return this.trailingComment() ? 1 : undefined;
    this.at = start;
    if (this.peek() !== '<' && !this.phrase()) return undefined;
    this.skipSpace();
    if (mayBeGroup && this.take(':')) return this.group();
    return this.take('<') && this.addrSpec() && this.take('>') ? 1 : undefined;
  }

  private group(): number | undefined {
    this.skipSpace();
    if (this.take(';')) return this.skipComments() ? 0 : undefined;
    for (let count = 1; ; count++) {
      if (this.address(false) === undefined || !this.skipComments()) return undefined;
      if (this.take(';')) return this.skipComments() ? count : undefined;
      if (!this.take(',')) return undefined;
    }
  }

  private addrSpec(): boolean {
    this.skipSpace();
    const local = this.peek() === '"' ? this.quotedString() : this.strictAtom();
    if (!local || !this.take('@')) return false;
    this.skipSpace();
    return this.peek() === '[' ? this.domainLiteral() : this.strictAtom() !== undefined;
  }

  /** At least one word; ends at the first non-word. */
  private phrase(): boolean {
    for (let count = 0; ; count++) {
      if (count > 0 && !this.skipComments()) return false;
      this.skipSpace();
      if (this.isAtEnd()) return true;
      const word = this.peek() === '"' ? this.quotedString() : this.atom();
      const isWord = word !== undefined && isReadable(word);
      if (!isWord) return count > 0;
    }
  }

  private quotedString(): string | undefined {
    let text = '';
    for (let i = this.at + 1; i < this.chars.length; i++) {
      const char = this.chars[i] as string;
      if (char === '"') {
        this.at = i + 1;
        return text;
      }
      if (char === '\\') i++;
      const content = this.chars[i];
      if (content === undefined || !isPrintable(content)) return undefined;
      text += content;
    }
    return undefined;
  }

  private strictAtom(): string | undefined {
    const atom = this.atom();
    return atom === undefined || /^\.|\.\.|\.$/.test(atom) ? undefined : atom;
  }

  /** Dots included. */
  private atom(): string | undefined {
    const start = this.at;
    while (isAtomChar(this.peek())) this.at++;
    return this.at === start ? undefined : this.chars.slice(start, this.at).join('');
  }

  private domainLiteral(): boolean {
    const end = this.chars.indexOf(']', this.at);
    if (end < 0) return false;
    const literal = this.chars.slice(this.at + 1, end).join('');
    this.at = end + 1;
    if (literal.startsWith('IPv6:')) return parseIp(literal.slice('IPv6:'.length)) !== undefined;
    const ip = parseIp(literal);
    return ip !== undefined && (ip.family === 4 || ip.value >> 32n === 0xffffn);
  }

  /** A comment after a bare address is its name. */
  private trailingComment(): boolean {
    this.skipSpace();
    if (!this.take('(')) return true;
    const comment = this.comment();
    return comment?.split(/[ \t]+/).every(isReadable) === true;
  }

  private skipComments(): boolean {
    this.skipSpace();
    while (this.take('(')) {
      if (this.comment() === undefined) return false;
      this.skipSpace();
    }
    return true;
  }

  /** Up to the parenthesis that closes it; they nest. */
  private comment(): string | undefined {
    const start = this.at;
    for (let depth = 1; this.at < this.chars.length; this.at++) {
      const char = this.peek();
      if (char === '\\' && this.at + 1 < this.chars.length) this.at++;
      else if (char === '(') depth++;
      else if (char === ')') depth--;
      if (depth === 0) {
        this.at++;
        return this.chars.slice(start, this.at - 1).join('');
      }
    }
    return undefined;
  }

  private skipSpace(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.at++;
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
    return true;
  }

  private peek(): string | undefined {
    return this.chars[this.at];
  }

  private isAtEnd(): boolean {
    return this.at >= this.chars.length;
  }
}

function isVisible(char: string): boolean {
  return (char >= '!' && char <= '~') || (char.codePointAt(0) as number) >= 0x80;
}

function isPrintable(char: string): boolean {
  return isVisible(char) || char === ' ' || char === '\t';
}

function isAtomChar(char: string | undefined): boolean {
  return char !== undefined && isVisible(char) && !SPECIALS.has(char);
}

/** Encoded words (RFC 2047) are decoded; one with an unknown charset cannot be. */
function isReadable(word: string): boolean {
  const [, charset = '', encoding = '', content = ''] = ENCODED_WORD.exec(word) ?? [];
  if (encoding === '' || SUPPORTED_CHARSETS.has(charset.toLowerCase())) return true;
  const isWellFormed = /b/i.test(encoding)
    ? /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(content)
    : /^(?:=[0-9a-fA-F]{2}|[ -<>-~\n\r\t])*$/.test(content);
  return !isWellFormed;
}
