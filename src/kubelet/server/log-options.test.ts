import { describe, expect, it } from 'vitest';
import { KubeletError } from './kubelet-call.ts';
import { parseLogOptions } from './log-options.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const parse = (query: string) => parseLogOptions(new URLSearchParams(query), NOW);

describe('the query of a request for logs', () => {
  it.each([
    [
      '',
      { follow: false, previous: false, timestamps: false, sinceMs: undefined, tailLines: undefined, limitBytes: undefined, stream: 'All' },
    ],
    ['follow=true&previous=1&timestamps=', { follow: true, previous: true, timestamps: true }],
    ['follow=false&previous=0&timestamps=False', { follow: false, previous: false, timestamps: false }],
    ['tailLines=0&limitBytes=10', { tailLines: 0, limitBytes: 10 }],
    ['tail=5&tailLines=7', { tailLines: 5 }],
    ['tail=all&tailLines=7', { tailLines: undefined }],
    ['sinceSeconds=5', { sinceMs: NOW - 5000 }],
    ['sinceTime=2026-01-02T03:04:00Z', { sinceMs: NOW - 5000 }],
    ['stream=Stderr', { stream: 'Stderr' }],
  ])('%j is read', (query, expected) => {
    expect(parse(query)).toMatchObject(expected);
  });

  it.each([
    ['tailLines=many', 400, 'Unable to decode query.'],
    ['sinceTime=yesterday', 400, 'Unable to decode query.'],
    ['tailLines=-1', 422, 'Invalid request.'],
    ['limitBytes=0', 422, 'Invalid request.'],
    ['sinceSeconds=0', 422, 'Invalid request.'],
    ['sinceSeconds=1&sinceTime=2026-01-02T03:04:00Z', 422, 'Invalid request.'],
    ['stream=Both', 422, 'Invalid request.'],
  ])('%j is rejected with %i', (query, code, message) => {
    const error = (() => {
      try {
        return parse(query);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(KubeletError);
    expect(error).toMatchObject({ code, message: JSON.stringify({ message }).replace(':', ': ') });
  });
});
