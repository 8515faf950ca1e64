import { describe, expect, it } from 'vitest';
import { FieldError } from './field-error.ts';
import { Path } from './field-path.ts';
import { serverResponseError } from './server-response-error.ts';
import { isStatusReason, NO_RESOURCE, StatusError } from './status-error.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };

describe('StatusError', () => {
  it.each([
    [StatusError.notFound(pods, 'a'), 404, 'NotFound', 'pods "a" not found'],
    [StatusError.alreadyExists(deployments, 'a'), 409, 'AlreadyExists', 'deployments.apps "a" already exists'],
    [StatusError.unauthorized(), 401, 'Unauthorized', 'not authorized'],
    [StatusError.forbidden(pods, 'a', 'no'), 403, 'Forbidden', 'pods "a" is forbidden: no'],
    [StatusError.forbidden(pods, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
    [StatusError.forbidden(NO_RESOURCE, '', 'no'), 403, 'Forbidden', 'forbidden: no'],
    [StatusError.conflict(pods, 'a', 'stale'), 409, 'Conflict', 'Operation cannot be fulfilled on pods "a": stale'],
    [StatusError.gone('x'), 410, 'Gone', 'x'],
    [StatusError.expired('x'), 410, 'Expired', 'x'],
    [StatusError.badRequest('x'), 400, 'BadRequest', 'x'],
    [StatusError.tooManyRequests('x', 1), 429, 'TooManyRequests', 'x'],
    [StatusError.serviceUnavailable('x'), 503, 'ServiceUnavailable', 'x'],
    [StatusError.methodNotSupported(pods, 'create'), 405, 'MethodNotAllowed', 'create is not supported on resources of kind "pods"'],
    [StatusError.requestEntityTooLarge('limit is 1'), 413, 'RequestEntityTooLarge', 'Request entity too large: limit is 1'],
    [StatusError.timeout('slow', 2), 504, 'Timeout', 'Timeout: slow'],
    [StatusError.internalError(new Error('boom')), 500, 'InternalError', 'Internal error occurred: boom'],
    [StatusError.from(new Error('boom')), 500, '', 'boom'],
  ])('%#: %s', (error, code, reason, message) => {
    expect({ code: error.code, reason: error.reason, message: error.message }).toEqual({ code, reason, message });
  });

  it('becomes the Status that clients read, without empty members', () => {
    expect(StatusError.notFound(deployments, 'web').status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "web" not found',
      reason: 'NotFound',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 404,
    });
    expect(StatusError.from(new Error('x')).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'x',
      code: 500,
    });
  });

  it('carries a cause for each field error, and joins the messages', () => {
    const errors = [FieldError.required(Path.of('a')), FieldError.invalid(Path.of('b'), 1, 'no'), FieldError.required(Path.of('a'))];
    const error = StatusError.invalid({ group: '', kind: 'Pod' }, 'x', errors);
    expect(error.message).toBe('Pod "x" is invalid: [a: Required value, b: Invalid value: 1: no]');
    expect(error.causes).toHaveLength(3);
    expect(error.causes[1]).toEqual({ reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'b' });
  });

  it('survives the way over the wire', () => {
    const error = StatusError.timeout('slow', 2);
    const again = StatusError.fromStatus(JSON.parse(JSON.stringify(error.status)));
    expect(again.status).toEqual(error.status);
    expect(isStatusReason(again, 'Timeout')).toBe(true);
    expect(isStatusReason(new Error('x'), 'Timeout')).toBe(false);
  });

  it('is made from a response that is not a Status', () => {
    const response = { verb: 'GET', resource: pods, name: 'a', serverMessage: 'oops', retryAfterSeconds: 0, unexpected: true };
    const error = serverResponseError({ ...response, code: 500 });
    expect(error.message).toBe('an error on the server ("oops") has prevented the request from succeeding (get pods a)');
    expect(error.hasCause('UnexpectedServerResponse')).toBe(true);
    expect(serverResponseError({ ...response, code: 404 }).reason).toBe('NotFound');
    expect(serverResponseError({ ...response, code: 409, verb: 'post' }).reason).toBe('AlreadyExists');
  });
});
