const LEVEL = '  ';
const QUOTE = '"';
/** The indentation may be this many times as long as the text itself, and this long in any case. */
const MAX_GROWTH = 8;
const FREE_INDENTATION = 1 << 20;

/**
 * Indents compact JSON by two spaces per level. Deeply nested values whose indentation would be many times their own length stay on one line, since
 * indentation grows with the square of the depth.
 */
export function indentJson(text: string, depth = 0): string {
  return indentationLength(text, depth) > Math.max(FREE_INDENTATION, MAX_GROWTH * text.length) ? text : indented(text, depth);
}

function indentationLength(text: string, depth: number): number {
  let level = depth;
  let total = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === QUOTE) i = stringEnd(text, i);
    else if (char === '{' || char === '[') total += LEVEL.length * ++level;
    else if (char === '}' || char === ']') total += LEVEL.length * --level;
    else if (char === ',') total += LEVEL.length * level;
  }
  return total;
}

function indented(text: string, depth: number): string {
  const lines: string[] = [];
  let line = '';
  let level = depth;
  const breakLine = (before: string) => {
    lines.push(line + before);
    line = LEVEL.repeat(level);
  };
  for (let i = 0; i < text.length; ) {
    const char = text[i]!;
    const end = char === QUOTE ? stringEnd(text, i) + 1 : i + 1;
    const isEmpty = (char === '{' || char === '[') && (text[end] === '}' || text[end] === ']');
    if (isEmpty) line += char + text[end];
    else if (char === '{' || char === '[') {
      level++;
      breakLine(char);
    } else if (char === '}' || char === ']') {
      level--;
      breakLine('');
      line += char;
    } else if (char === ',') breakLine(char);
    else line += char === ':' ? ': ' : text.slice(i, end);
    i = isEmpty ? end + 1 : end;
  }
  lines.push(line);
  return lines.join('\n');
}

/** Where the string ends that begins at `start`: at its closing quote. */
function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== QUOTE) end += text[end] === '\\' ? 2 : 1;
  return end;
}
