import { expect, test } from 'vitest';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { chain, type Filter } from './chain.ts';

const REQUEST = {} as ApiRequest;
const RESPONSE = {} as ApiResponse;

test('filters see a request in the order of the list, and its response in reverse order', async () => {
  const calls: string[] = [];
  const filter =
    (name: string): Filter =>
    async (request, next) => {
      calls.push(`${name} request`);
      const response = await next(request);
      calls.push(`${name} response`);
      return response;
    };
  const handler = chain([filter('first'), filter('second')], () => {
    calls.push('handler');
    return RESPONSE;
  });
  expect(await handler(REQUEST)).toBe(RESPONSE);
  expect(calls).toEqual(['first request', 'second request', 'handler', 'second response', 'first response']);
});

test('a filter that responds itself keeps the request from all that follow', async () => {
  const handler = chain(
    [
      () => RESPONSE,
      () => {
        throw new Error('reached the next filter');
      },
    ],
    () => {
      throw new Error('reached the handler');
    },
  );
  expect(await handler(REQUEST)).toBe(RESPONSE);
});
