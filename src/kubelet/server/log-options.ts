import { core } from '#api';
import { parseTime, StatusError } from '#machinery';
import { KubeletError } from './kubelet-call.ts';

/** The parameters of a log request. */
export interface LogRequest {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceMs: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

/** Parses the query of a log request. Throws a KubeletError with upstream's codes and messages. */
export function parseLogOptions(query: URLSearchParams, nowMs: number): LogRequest {
  const options = decode(withTailLines(query));
  if (core.validatePodLogOptions(options, { allowsStream: true }).length > 0) {
    throw new KubeletError(422, '{"message": "Invalid request."}');
  }
  const { follow = false, previous = false, timestamps = false } = options;
  return {
    ...{ follow, previous, timestamps },
    sinceMs: sinceMs(options, nowMs),
    tailLines: options.tailLines,
    limitBytes: options.limitBytes,
    stream: (options.stream || 'All') as LogRequest['stream'],
  };
}

/** As upstream: `tail` is an older name of `tailLines`, and `all` no limit. */
function withTailLines(query: URLSearchParams): URLSearchParams {
  const tail = query.get('tail');
  if (!tail) return query;
  const changed = new URLSearchParams(query);
  if (tail === 'all') changed.delete('tailLines');
  else changed.set('tailLines', tail);
  return changed;
}

function sinceMs({ sinceSeconds, sinceTime }: core.PodLogOptions, nowMs: number): number | undefined {
  if (sinceSeconds !== undefined) return nowMs - sinceSeconds * 1000;
  return sinceTime === undefined ? undefined : parseTime(sinceTime);
}

function decode(query: URLSearchParams): core.PodLogOptions {
  try {
    return core.parsePodLogOptions(query);
  } catch (error) {
    if (error instanceof StatusError) throw new KubeletError(400, '{"message": "Unable to decode query."}');
    throw error;
  }
}
