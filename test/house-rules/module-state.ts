import type { SourceFile } from './source-tree.ts';

/**
 * An empty container will be filled, unless its type is read-only or its name is that of a constant. WeakMap and WeakSet are excluded: they
 * cache what is derived from immutable values.
 */
const EMPTY_CONTAINER =
  /^(?:export )?const (?![A-Z0-9_]+\b)(\w+)(?:: (?!readonly |Readonly)[^=]+)? = (?:new (?:Map|Set)(?:<.*>)?\(\)|\[\]|\{\});$/;
const REASSIGNABLE = /^(?:export )?(?:let|var) (\w+)/;
const STATEFUL =
  /^(?:export )?const (\w+)(?::[^=]+)? = (?:new (?:AbortController|AsyncMutex|AsyncSemaphore|Broadcast|EventEmitter|EventTarget|Fifo|Heap|KeyedHeap|Lru|MetricsRegistry|TokenBucket|VirtualClock|WorkQueue)\b|createLogger\()/;
const STATIC_FIELD = /^ {2}(?:(?:public|private|protected) )?static (?!readonly )(#?\w+)(?:: [^=(]+)? = /;
const STATIC_CONTAINER =
  /^ {2}(?:(?:public|private|protected) )?static readonly (#?\w+)(?:: [^=(]+)? = (?:new (?:Map|Set)(?:<.*>)?\(\)|\[\]);$/;
const CONTAINER = /^(?:export )?const (\w+)(?::[^=]+)? = (?:new (?:Map|Set|Array|Uint8Array|Float64Array)\b|\[|\{|Object\.create)/;
const MUTATORS = 'set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin';

/** The mutable state of the module, with its line. */
export function moduleStateFaults(file: SourceFile): string[] {
  const lines = file.code.split('\n');
  const declared = lines.flatMap((line, index) => declarationFault(line).map((fault) => `${file.path}:${index + 1}: ${fault}`));
  return [...declared, ...mutatedConstants(file, lines)];
}

function declarationFault(line: string): string[] {
  const rules: [RegExp, string][] = [
    [REASSIGNABLE, 'can be assigned again'],
    [EMPTY_CONTAINER, 'is empty, so it is there to be filled'],
    [STATEFUL, 'holds state'],
    [STATIC_FIELD, 'is static and can be assigned again'],
    [STATIC_CONTAINER, 'is static and empty, so it is there to be filled'],
  ];
  return rules.flatMap(([pattern, detail]) => {
    const name = pattern.exec(line)?.[1];
    return name ? [`${name} ${detail}`] : [];
  });
}

/** Constants that a function changes. Code that runs once, when the module loads, may fill a table. */
function mutatedConstants(file: SourceFile, lines: readonly string[]): string[] {
  const names = lines.flatMap((line) => CONTAINER.exec(line)?.[1] ?? []);
  if (names.length === 0) return [];
  const faults: string[] = [];
  for (const { start, text } of functionsAtTop(lines)) {
    for (const name of names) {
      const at = mutationOf(name, text);
      if (at !== undefined) faults.push(`${file.path}:${start + lineOf(text, at)}: ${name} is changed by a function`);
    }
  }
  return faults;
}

function mutationOf(name: string, text: string): number | undefined {
  if (!text.includes(name) || isShadowed(name, text)) return undefined;
  const mutation = `(?<![\\w.#$])${name}(?:(?:\\[[^\\]\\n]+\\]|\\.\\w+)? (?:=|\\+=|-=|\\?\\?=|\\|\\|=) |\\.(?:${MUTATORS})\\()`;
  return new RegExp(mutation).exec(text)?.index;
}

/** Whether a local or a parameter in the text shadows the name. */
function isShadowed(name: string, text: string): boolean {
  const local = `(?:const|let|var) (?:[{[][^=;]*)?\\b${name}\\b`;
  const parameter = `[(,{]\\s*(?:\\.\\.\\.)?${name}\\??\\s*(?::|\\)\\s*(?::|=>|\\{)|,[^()]*\\)\\s*(?::|=>|\\{))|\\b${name} =>`;
  return new RegExp(`${local}|${parameter}`).test(text);
}

interface TopLevelBlock {
  /** Its first line number, starting at 1. */
  start: number;
  text: string;
}

const FUNCTION_START = /^(?:export )?(?:(?:async )?function\b|(?:abstract )?class\b|const \w+.*(?:=>|function\b))/;

/** Top-level functions, classes and arrow functions, each as text. */
function functionsAtTop(lines: readonly string[]): TopLevelBlock[] {
  const blocks: TopLevelBlock[] = [];
  let current: TopLevelBlock | undefined;
  lines.forEach((line, index) => {
    if (/^[A-Za-z]/.test(line)) {
      current = FUNCTION_START.test(line) ? { start: index + 1, text: '' } : undefined;
      if (current) blocks.push(current);
    }
    if (current) current.text += `${line}\n`;
  });
  return blocks;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length - 1;
}
