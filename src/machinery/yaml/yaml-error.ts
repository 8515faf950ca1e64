import { YAMLException } from 'js-yaml';

/** Text that is invalid YAML, or YAML that JSON cannot represent. Known errors have the message of the API's YAML library. */
export class YamlError extends Error {
  override readonly name = 'YamlError';

  constructor(problem: string, options?: ErrorOptions) {
    super(`yaml: ${problem}`, options);
  }
}

interface ProblemText {
  readonly problem: string;
  /** Reported by the scanner: its lines count from one, others from zero. An upstream quirk. */
  readonly inToken: boolean;
}

const WORDINGS: readonly (readonly [RegExp, ProblemText])[] = [
  [/unexpected end of the (stream|document) within a (single|double) quoted scalar/, token('found unexpected end of stream')],
  [/tab characters must not be used/, token('found character that cannot start any token')],
  [/expected ':' after a mapping key|multiline key/, token("could not find expected ':'")],
  [/undeclared tag handle/, structure('found undefined tag handle')],
  [/unknown escape sequence/, token('found unknown escape character')],
  [/expected hexadecimal character/, token('did not find expected hexdecimal number')],
  [/non-printable characters/, token('control characters are not allowed')],
  [/bad indentation of a sequence entry/, structure("did not find expected '-' indicator")],
  [/bad indentation of a mapping entry/, structure('did not find expected key')],
  [/expected the node content/, structure('did not find expected node content')],
];

function token(problem: string): ProblemText {
  return { problem, inToken: true };
}

function structure(problem: string): ProblemText {
  return { problem, inToken: false };
}

/** The parser's error in the words of the API's library. */
export function translateYamlError(error: unknown): unknown {
  if (!(error instanceof YAMLException)) return error;
  const at = error.mark === undefined ? '' : (error.mark.buffer[error.mark.position] ?? '');
  const { problem, inToken } = wordingOf(error.reason, at, error.mark?.buffer.slice(0, error.mark.position) ?? '');
  const line = error.mark?.line ?? 0;
  const where = line === 0 ? '' : `line ${inToken ? line + 1 : line}: `;
  return new YamlError(where + problem, { cause: error });
}

/** The bracket of the innermost open flow collection at the end of a text; quotes are not parsed. */
function openBracket(text: string): string {
  const open: string[] = [];
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    if (bracket === '[' || bracket === '{') open.push(bracket);
    else open.pop();
  }
  return open.at(-1) ?? '{';
}

function wordingOf(reason: string, at: string, before: string): ProblemText {
  if (reason.startsWith('bad indentation of a mapping entry') && at === ':') return token('mapping values are not allowed in this context');
  if (reason.startsWith('missed comma'))
    return structure(']}:,'.includes(at) ? 'did not find expected node content' : "did not find expected ',' or ']'");
  if (reason.includes('within a flow collection'))
    return structure(`did not find expected ',' or '${openBracket(before) === '[' ? ']' : '}'}'`);
  if (reason.startsWith('end of the stream')) {
    return '@`%'.includes(at) && at !== '' ? token('found character that cannot start any token') : structure('did not find expected key');
  }
  return WORDINGS.find(([pattern]) => pattern.test(reason))?.[1] ?? structure(reason);
}
