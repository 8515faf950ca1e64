import { parseTime } from '#machinery';

/** What of a log is wanted. */
export interface LogRequest {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceMs: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

/** Reads the query of a request for logs. Throws a RangeError on values that make no sense. */
export function parseLogOptions(query: URLSearchParams, nowMs: number): LogRequest {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds', 1);
  const sinceTime = query.get('sinceTime');
  if (sinceSeconds !== undefined && sinceTime) throw new RangeError('at most one of `sinceTime` or `sinceSeconds` may be specified');
  return {
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    sinceMs: sinceSeconds === undefined ? time(sinceTime) : nowMs - sinceSeconds * 1000,
    tailLines: wholeNumber(query, 'tailLines', 0),
    limitBytes: wholeNumber(query, 'limitBytes', 1),
    stream: streamOf(query.get('stream')),
  };
}

function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== 'false' && value !== '0';
}

function wholeNumber(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || value < least) throw new RangeError(`${name} must be a whole number, at least ${least}: got "${text}"`);
  return value;
}

function time(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  try {
    return parseTime(text);
  } catch (error) {
    throw new RangeError(`sinceTime: ${(error as Error).message}`);
  }
}

function streamOf(text: string | null): LogRequest['stream'] {
  if (text === null || text === '') return 'All';
  if (text === 'All' || text === 'Stdout' || text === 'Stderr') return text;
  throw new RangeError(`stream must be All, Stdout or Stderr: got "${text}"`);
}
