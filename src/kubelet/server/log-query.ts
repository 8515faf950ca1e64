import { aggregateFieldErrors, FieldError, Path, parseTime } from '#machinery';
import { KubeletError } from './kubelet-call.ts';

/** The requested logs of the machine: of services, or one file. */
export interface LogQuery {
  readonly services: readonly string[];
  readonly file: string | undefined;
  /** For journalctl. */
  readonly options: LogQueryOptions;
}

export interface LogQueryOptions {
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

const MAX_TAIL_LINES = 100_000;
const MAX_SERVICES = 4;
const MAX_SERVICE_LENGTH = 256;
const MAX_PATTERN_LENGTH = 1024;
const QUERY = Path.of('query');

/** Parses the query of a request for `/logs/`. Undefined: there is none. Throws a KubeletError with all faults, in upstream's words. */
export function parseLogQuery(query: URLSearchParams): LogQuery | undefined {
  const problems: FieldError[] = [];
  const names = query.getAll('query');
  const files = names.filter((name) => /[/\\]/.test(name));
  const services = names.filter((name) => !/[/\\]/.test(name) && name.trim() !== '');
  if (names.length > 0 && files.length + services.length === 0) problems.push(FieldError.invalid(QUERY, names, 'query cannot be empty'));
  const options = readOptions(query, problems);
  if (names.length === 0 && Object.keys(options).length === 0 && problems.length === 0) return undefined;
  const all = [...problems, ...nameProblems(files, services, options), ...optionProblems(options)];
  if (all.length > 0) throw new KubeletError(400, aggregateFieldErrors(all));
  return { services, file: files[0], options };
}

function readOptions(query: URLSearchParams, problems: FieldError[]): LogQueryOptions {
  const read = <T>(name: string, parse: (text: string) => T, detail: (text: string) => string): T | undefined => {
    const text = query.get(name);
    if (!text) return undefined;
    try {
      return parse(text);
    } catch {
      problems.push(FieldError.invalid(Path.of(name), text, detail(text)));
      return undefined;
    }
  };
  const time = (name: string) => read(name, parseTime, () => 'invalid time format');
  const integer = (name: string) => read(name, parseInteger, (text) => `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  const options = {
    sinceMs: time('sinceTime'),
    untilMs: time('untilTime'),
    tailLines: integer('tailLines'),
    boot: integer('boot'),
    pattern: query.get('pattern') || undefined,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function parseInteger(text: string): number {
  if (!/^[+-]?\d{1,9}$/.test(text)) throw new RangeError('not an integer');
  return Number(text);
}

function nameProblems(files: readonly string[], services: readonly string[], options: LogQueryOptions): readonly FieldError[] {
  const list = `[${files.join(' ')}]`;
  const problems = services.flatMap((name) => {
    if (name.length > MAX_SERVICE_LENGTH) return [FieldError.invalid(QUERY, name, 'length must be less than 100')];
    return /^[\w@-]+$/.test(name) ? [] : [FieldError.invalid(QUERY, name, 'input contains unsupported characters')];
  });
  if (services.length > MAX_SERVICES) problems.push(FieldError.tooMany(QUERY, services.length, MAX_SERVICES));
  if (files.length + services.length === 0) problems.push(FieldError.required(QUERY, 'cannot be empty with options'));
  else if (files.length > 0 && services.length > 0)
    problems.push(FieldError.invalid(QUERY, `${list}, [${services.join(' ')}]`, 'cannot specify a file and service'));
  else if (files.length > 1) problems.push(FieldError.invalid(QUERY, list, 'cannot specify more than one file'));
  else if (files.length === 1 && Object.keys(options).length > 0)
    problems.push(FieldError.invalid(QUERY, list, 'cannot specify file with options'));
  return problems;
}

function optionProblems({ sinceMs, untilMs, tailLines, boot, pattern }: LogQueryOptions): readonly FieldError[] {
  const problems: FieldError[] = [];
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs)
    problems.push(FieldError.invalid(Path.of('untilTime'), new Date(untilMs).toISOString(), 'must be after `sinceTime`'));
  if (boot !== undefined && boot > 0) problems.push(FieldError.invalid(Path.of('boot'), boot, 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES))
    problems.push(FieldError.invalid(Path.of('tailLines'), tailLines, `must be between 0 and ${MAX_TAIL_LINES}, inclusive`));
  if (pattern !== undefined && pattern.length > MAX_PATTERN_LENGTH)
    problems.push(FieldError.invalid(Path.of('pattern'), pattern.slice(0, 64), `must have at most ${MAX_PATTERN_LENGTH} characters`));
  return problems;
}

/** The arguments of journalctl for these services. */
export function journalArguments({ sinceMs, untilMs, tailLines, boot = 0, pattern }: LogQueryOptions, services: readonly string[]) {
  const time = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  return [
    ...['--utc', '--no-pager', '--output=short-precise'],
    ...(sinceMs === undefined ? [] : [`--since=${time(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`--until=${time(untilMs)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    `--boot=${boot}`,
  ];
}
