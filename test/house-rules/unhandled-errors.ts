import type { SourceFile } from './source-tree.ts';

/** Functions that create emitters of 'error', by module. Without a listener the event is an uncaught exception. */
const MAKERS = new Map<string, readonly string[]>([
  ['node:net', ['connect', 'createConnection', 'createServer']],
  ['node:tls', ['connect', 'createServer']],
  ['node:http', ['request', 'get', 'createServer']],
  ['node:https', ['request', 'get', 'createServer']],
  ['node:http2', ['connect', 'createServer', 'createSecureServer']],
  ['node:dgram', ['createSocket']],
  ['node:child_process', ['spawn', 'execFile', 'exec', 'fork']],
  ['node:fs', ['createReadStream', 'createWriteStream', 'watch']],
  ['node:zlib', ['createGzip', 'createGunzip', 'createInflate', 'createDeflate']],
]);
const SERVERS = new Set(['createServer', 'createSecureServer']);
const REASON = /\/\/ errors: \S/;

/**
 * Code that creates a socket, server, request, stream or child process listens to its 'error' event in the same file for its whole lifetime
 * (`on`, not `once`), passes it to `pipeline` or to a loop, or says `// errors: who handles them` in the line above. Servers listen by
 * `listenOn`.
 */
export function emitterFaults(file: SourceFile): string[] {
  if (file.isTest) return [];
  return makersIn(file.text).flatMap(({ expression, isServer }) =>
    [...file.code.matchAll(expression)]
      .filter(({ index }) => !isHandled(file, index, isServer))
      .map(({ 0: call, index }) => `${place(file, index)}: ${call}…) has no lasting listener of its 'error' event`),
  );
}

interface Maker {
  readonly expression: RegExp;
  readonly isServer: boolean;
}

const IMPORT = /^import\s+(?!type\b)([^;]*?)\s+from\s+'(node:[\w/]+)'/gm;

/** Local names of the imported functions, also as members of a module. */
function makersIn(text: string): Maker[] {
  return [...text.matchAll(IMPORT)].flatMap(([, clause = '', module = '']) => {
    const names = MAKERS.get(module) ?? [];
    const whole = /^(?:\* as )?([\w$]+)/.exec(clause)?.[1];
    return names.flatMap((name) => {
      const local = new RegExp(`\\{[^}]*?(?<![\\w] )\\b${name}\\b(?: as ([\\w$]+))?[^}]*\\}`).exec(clause);
      const calls = [
        ...(local === null ? [] : [`(?<![\\w$.#])${local[1] ?? name}\\(`]),
        ...(whole === undefined ? [] : [`(?<![\\w$.#])${whole}\\.${name}\\(`]),
      ];
      return calls.map((call) => ({ expression: new RegExp(call, 'g'), isServer: SERVERS.has(name) }));
    });
  });
}

function isHandled({ text, code }: SourceFile, index: number, isServer: boolean): boolean {
  const start = statementStart(code, index);
  const lineStart = text.lastIndexOf('\n', index) + 1;
  const above = text.slice(text.lastIndexOf('\n', lineStart - 2) + 1, lineStart);
  if (REASON.test(above)) return true;
  const before = code.slice(start, index);
  if (/\bpipeline\(|\bfor await\b|\byield\*/.test(before)) return true;
  const name = /(?:const|let)\s+([\w$]+)[^=]*=|(?:this|[\w$]+)\.(#?[\w$]+)\s*=(?!=)|(?:^|\n)\s*([\w$]+)\s*=(?!=)/.exec(before);
  const owner = name?.[1] ?? name?.[2] ?? name?.[3];
  const end = statementEnd(code, index);
  if (/\.on\('error'/.test(text.slice(index, end)) && !isServer) return true;
  if (owner === undefined) return false;
  const mention = owner.replace(/[$#]/g, '\\$&');
  if (new RegExp(`\\blistenOn\\([^;]*${mention}\\b`).test(text)) return true;
  if (isServer) return false;
  return (
    new RegExp(`(?<![\\w$.])(?:this\\.)?${mention}(?:\\s*\\.(?:on|once|set\\w+)\\([^;]*?\\))*?\\s*\\.on\\('error'`).test(text) ||
    new RegExp(`\\b(?:pipeline\\([^;]*|for await \\([^)]* of )${mention}\\b`).test(text)
  );
}

function statementStart(code: string, index: number): number {
  for (let i = index - 1, depth = 0; i >= 0; i--) {
    const char = code[i]!;
    if (char === ')' || char === ']') depth++;
    else if (char === '(' || char === '[') depth--;
    else if ((char === ';' || char === '{' || char === '}') && depth <= 0) return i + 1;
  }
  return 0;
}

/** The end of the statement: a semicolon outside of its brackets. */
function statementEnd(code: string, index: number): number {
  for (let i = index, depth = 0; i < code.length; i++) {
    const char = code[i]!;
    if (char === '(' || char === '[' || char === '{') depth++;
    else if (char === ')' || char === ']' || char === '}') depth--;
    if (depth < 0 || (char === ';' && depth === 0)) return i;
  }
  return code.length;
}

function place({ path, code }: SourceFile, index: number): string {
  return `${path}:${code.slice(0, index).split('\n').length}`;
}

/** A promise dropped with `void`: a call, or the last part of a chain. */
const DROPPED = /\bvoid ((?:[\w$.#?!]|\[[\w$.]*\])+?)\(/g;
/** These promises end with a connection, and never reject. */
const NEVER_REJECTS = /(?:\bclosed|\bdrained\(\)|Promise\.allSettled\([\s\S]*\))$/;

/**
 * A promise that is not awaited handles its errors: by `catch`, by a second argument of `then`, or in an async function of the same file
 * whose comment says "Never rejects". Functions in other files are not followed.
 */
export function droppedPromiseFaults(file: SourceFile): string[] {
  if (file.isTest) return [];
  const { code } = file;
  return [...code.matchAll(DROPPED)].flatMap(({ index, 1: callee = '' }) => {
    const expression = code.slice(index + 'void '.length, statementEnd(code, index));
    return isSafe(file, callee, expression) ? [] : [`${place(file, index)}: void ${callee}(…) drops a promise that may reject`];
  });
}

function isSafe({ code, text }: SourceFile, callee: string, expression: string): boolean {
  const chain = lastCall(expression);
  if (chain.method === 'catch' || (chain.method === 'then' && chain.hasTwoArguments)) return true;
  if (chain.method === 'then') return NEVER_REJECTS.test(chain.receiver);
  if (chain.method === 'finally') return false;
  const name = callee.replace(/^this\./, '');
  if (name.includes('.')) return true;
  const declared = declarationOf(code, name);
  return declared === undefined || /Never rejects\b/.test(commentAbove(text, declared));
}

/** The declaration of the async function with that name; undefined if there is none in this file. */
function declarationOf(code: string, name: string): number | undefined {
  const mention = name.replace(/[$#]/g, '\\$&');
  const declaration = new RegExp(`^\\s*(?:export )?(?:private |protected )?async (?:function )?${mention}\\b`, 'm').exec(code);
  return declaration === null ? undefined : declaration.index + declaration[0].search(/\S/);
}

function commentAbove(text: string, at: number): string {
  const lineStart = text.lastIndexOf('\n', at) + 1;
  return /(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/|\/\/[^\n]*)\s*$/.exec(text.slice(Math.max(0, lineStart - 800), lineStart))?.[0] ?? '';
}

interface LastCall {
  readonly method: string;
  readonly receiver: string;
  readonly hasTwoArguments: boolean;
}

/** The last call of a chain, such as `then` in `a.b(c).then(d, e)`. */
function lastCall(expression: string): LastCall {
  let last: LastCall = { method: '', receiver: '', hasTwoArguments: false };
  for (let i = 0, depth = 0; i < expression.length; i++) {
    const char = expression[i]!;
    if (char === '(' && depth === 0) {
      const method = /\.(\w+)\s*$/.exec(expression.slice(0, i));
      if (method) last = { method: method[1]!, receiver: expression.slice(0, method.index).trimEnd(), hasTwoArguments: false };
      else last = { ...last, method: '' };
    }
    if (/[([{]/.test(char)) depth++;
    else if (/[)\]}]/.test(char)) depth--;
    else if (char === ',' && depth === 1 && /\S/.test(expression.slice(i + 1).replace(/^\s*\)[\s\S]*/, '')))
      last = { ...last, hasTwoArguments: true };
  }
  return last;
}
