import { canonicalTime, FieldError, Path, StatusError } from '#machinery';

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly skipVerification: boolean;
  /** As the kubelet reads them. */
  readonly query: URLSearchParams;
}

/** What to read of a log, from the query of a request. */
export function readLogOptions(query: URLSearchParams, pod: string): LogOptions {
  const numbers = {
    tailLines: number(query, 'tailLines'),
    limitBytes: number(query, 'limitBytes'),
    sinceSeconds: number(query, 'sinceSeconds'),
  };
  const sinceTime = time(query.get('sinceTime'));
  const errors = refusals({ ...numbers, sinceTime, stream: query.get('stream') });
  if (errors.length > 0) throw StatusError.invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
  const follow = flag(query, 'follow');
  const passed = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps']) if (flag(query, name)) passed.set(name, 'true');
  for (const [name, value] of Object.entries(numbers)) if (value !== undefined) passed.set(name, String(value));
  if (sinceTime !== undefined) passed.set('sinceTime', sinceTime);
  return {
    container: query.get('container') ?? '',
    follow,
    skipVerification: flag(query, 'insecureSkipTLSVerifyBackend'),
    query: passed,
  };
}

/** Upstream takes every value but these two for true, the empty one too. */
function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw StatusError.badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function time(text: string | null): string | undefined {
  if (text === null || text === '' || text === 'null') return undefined;
  try {
    return canonicalTime(text);
  } catch (error) {
    throw StatusError.badRequest(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

interface Limits {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly sinceTime: string | undefined;
  readonly stream: string | null;
}

function refusals({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: Limits): FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(FieldError.invalid(Path.of('tailLines'), tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(FieldError.invalid(Path.of('limitBytes'), limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(FieldError.forbidden(Path.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(FieldError.invalid(Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0'));
  }
  if (stream !== null) errors.push(FieldError.forbidden(Path.of('stream'), 'may not be specified'));
  return errors;
}
