import { Transform } from 'node:stream';

/** URL attributes by element. */
const URL_ATTRIBUTES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    a: 'href',
    applet: 'codebase',
    area: 'href',
    audio: 'src',
    base: 'href',
    blockquote: 'cite',
    body: 'background',
    button: 'formaction',
    command: 'icon',
    del: 'cite',
    embed: 'src',
    form: 'action',
    frame: 'longdesc src',
    head: 'profile',
    html: 'manifest',
    iframe: 'longdesc src',
    img: 'longdesc src usemap',
    input: 'formaction src usemap',
    ins: 'cite',
    link: 'href',
    object: 'classid codebase data usemap',
    q: 'cite',
    script: 'src',
    source: 'src',
    video: 'poster src',
  }).map(([element, attributes]) => [element, new Set(attributes.split(' '))]),
);

const RAW_TEXT: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title']);
/** Longer tags are not rewritten. */
const MAX_TAG_CHARS = 64 * 1024;

/** Rewrites URLs in the tags of a streamed page. */
export function htmlRewriter(rewrite: (url: string) => string): Transform {
  const page = new HtmlRewriter(rewrite);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(page.write(chunk.toString('latin1')), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(page.end(), 'latin1'));
    },
  });
}

class HtmlRewriter {
  #pending = '';
  /** The current raw text element, if any. */
  #rawElement: string | undefined;

  constructor(private readonly rewrite: (url: string) => string) {}

  write(text: string): string {
    this.#pending += text;
    let output = '';
    let at = 0;
    for (;;) {
      const next = this.#rawElement === undefined ? this.#pending.indexOf('<', at) : this.#endOfRaw(at);
      if (next < 0) break;
      const end = tagEnd(this.#pending, next);
      if (end === 'open' && this.#pending.length - next < MAX_TAG_CHARS) {
        output += this.#pending.slice(at, next);
        this.#pending = this.#pending.slice(next);
        return output;
      }
      const after = end === 'open' ? this.#pending.length : end;
      const tag = this.#pending.slice(next, after);
      output += this.#pending.slice(at, next) + (end === 'open' ? tag : this.#tag(tag));
      at = after;
    }
    // An end tag may be split between chunks.
    const tailLength = this.#rawElement === undefined ? 0 : Math.min(this.#pending.length - at, this.#rawElement.length + 1);
    output += this.#pending.slice(at, this.#pending.length - tailLength);
    this.#pending = this.#pending.slice(this.#pending.length - tailLength);
    return output;
  }

  end(): string {
    return this.#pending;
  }

  #endOfRaw(from: number): number {
    const closing = `</${this.#rawElement}`;
    const text = this.#pending;
    for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2))
      if (text.slice(at, at + closing.length).toLowerCase() === closing) return at;
    return -1;
  }

  #tag(tag: string): string {
    const [, slash, name = ''] = /^<(\/?)([A-Za-z][A-Za-z0-9]*)/.exec(tag) ?? [];
    const element = name.toLowerCase();
    if (slash === '/') this.#rawElement = undefined;
    else if (RAW_TEXT.has(element) && !tag.endsWith('/>')) this.#rawElement = element;
    const attributes = slash === '/' ? undefined : URL_ATTRIBUTES.get(element);
    if (attributes === undefined) return tag;
    return rewriteAttributes(tag, 1 + name.length, (attribute, url) => (attributes.has(attribute) ? this.rewrite(url) : url));
  }
}

/** Replaces attribute values in one pass. */
function rewriteAttributes(tag: string, from: number, rewrite: (attribute: string, value: string) => string): string {
  let output = tag.slice(0, from);
  let at = from;
  const takeWhile = (test: (char: string) => boolean) => {
    const start = at;
    while (at < tag.length && test(tag[at]!)) at++;
    return tag.slice(start, at);
  };
  while (at < tag.length) {
    output += takeWhile((char) => isSpace(char) || char === '/' || char === '>' || char === '=');
    const attribute = takeWhile((char) => !isSpace(char) && !'/>='.includes(char));
    output += attribute + takeWhile(isSpace);
    if (tag[at] !== '=') continue;
    at++;
    output += `=${takeWhile(isSpace)}`;
    const quote = tag[at] === '"' || tag[at] === "'" ? tag[at]! : '';
    at += quote.length;
    const value = takeWhile((char) => (quote === '' ? !isSpace(char) && char !== '>' : char !== quote));
    at += quote.length;
    output += quote + rewrite(attribute.toLowerCase(), value) + quote;
  }
  return output;
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f';
}

/** The end of the tag or comment at `from`; `open` when it is incomplete. */
function tagEnd(text: string, from: number): number | 'open' {
  if (text.startsWith('<!--', from)) {
    const end = text.indexOf('-->', from + 4);
    return end < 0 ? 'open' : end + 3;
  }
  let quote = '';
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return at + 1;
  }
  return 'open';
}
