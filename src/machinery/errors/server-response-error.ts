import { type GroupResource, groupResourceText } from '../objects/group-resource.ts';
import { goQuote } from '../values/go-format.ts';
import { type StatusCause, StatusError, type StatusReason } from './status-error.ts';

export interface ServerResponse {
  readonly code: number;
  readonly verb: string;
  readonly resource: GroupResource;
  readonly name: string;
  readonly serverMessage: string;
  readonly retryAfterSeconds: number;
  /** The body was not a Status: its text is kept as a cause. */
  readonly unexpected: boolean;
}

interface ReasonText {
  readonly reason: StatusReason;
  readonly message: string;
}

const FIXED_MEANINGS: ReadonlyMap<number, ReasonText> = new Map([
  [400, { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' }],
  [401, { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' }],
  [404, { reason: 'NotFound', message: 'the server could not find the requested resource' }],
  [405, { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' }],
  [422, { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' }],
  [429, { reason: 'TooManyRequests', message: 'the server has received too many requests and has asked us to try again later' }],
  [503, { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' }],
  [
    504,
    {
      reason: 'Timeout',
      message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
    },
  ],
] as const);

/** The client's error for an HTTP failure whose body is not a Status. */
export function serverResponseError(response: ServerResponse): StatusError {
  const { code, name, resource, retryAfterSeconds, serverMessage } = response;
  const { reason, message } = meaningOf(response);
  const causes: StatusCause[] = response.unexpected ? [{ reason: 'UnexpectedServerResponse', message: serverMessage }] : [];
  const details = { name, group: resource.group, kind: resource.resource, causes, retryAfterSeconds };
  return new StatusError({ code, reason, message: message + target(response), details });
}

function meaningOf({ code, verb, serverMessage }: ServerResponse): ReasonText {
  const fixed = FIXED_MEANINGS.get(code);
  if (fixed !== undefined) return fixed;
  switch (code) {
    case 403:
      return { reason: 'Forbidden', message: serverMessage };
    case 406:
      return { reason: 'NotAcceptable', message: notAcceptableText(serverMessage) };
    case 409:
      return { reason: verb.toUpperCase() === 'POST' ? 'AlreadyExists' : 'Conflict', message: 'the server reported a conflict' };
    case 415:
      return { reason: 'UnsupportedMediaType', message: serverMessage };
    default:
      return otherMeaning(code, serverMessage);
  }
}

function notAcceptableText(serverMessage: string): string {
  if (serverMessage !== '' && serverMessage !== 'unknown') return serverMessage;
  return 'the server was unable to respond with a content type that the client supports';
}

function otherMeaning(code: number, serverMessage: string): ReasonText {
  if (code < 500) {
    return { reason: '', message: `the server responded with the status code ${code} but did not return more information` };
  }
  return {
    reason: 'InternalError',
    message: `an error on the server (${goQuote(serverMessage)}) has prevented the request from succeeding`,
  };
}

function target({ verb, resource, name }: ServerResponse): string {
  if (resource.resource === '') return '';
  const words = [verb.toLowerCase(), groupResourceText(resource), ...(name === '' ? [] : [name])];
  return ` (${words.join(' ')})`;
}
