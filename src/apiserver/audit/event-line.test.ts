import { describe, expect, it } from 'vitest';
import { encodeJson } from '#machinery';
import type { AuditEvent } from './audit-event.ts';
import { EventLines } from './event-line.ts';
import { EventUsers } from './event-users.ts';

const EVENT: AuditEvent = {
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata',
  auditID: 'c2a9b5e0',
  stage: 'ResponseComplete',
  requestURI: '/api/v1/pods?limit=5',
  verb: 'list',
  user: { username: 'jane', groups: ['system:authenticated'] },
  impersonatedUser: undefined,
  authenticationMetadata: undefined,
  sourceIPs: ['10.0.0.1', '10.0.0.2'],
  userAgent: 'kubectl/v1.36.0',
  objectRef: { resource: 'pods', apiVersion: 'v1' },
  responseStatus: { metadata: {}, code: 200 },
  requestObject: undefined,
  responseObject: undefined,
  requestReceivedTimestamp: '2026-01-02T03:04:05.000000Z',
  stageTimestamp: '2026-01-02T03:04:05.001000Z',
  annotations: { 'authorization.k8s.io/decision': 'allow' },
};

describe('a line of the audit log', () => {
  it.each<[string, Partial<AuditEvent>]>([
    ['all usual fields', {}],
    [
      'only required fields',
      { userAgent: undefined, objectRef: undefined, responseStatus: undefined, annotations: undefined, sourceIPs: [] },
    ],
    [
      'bodies and an impersonated user',
      {
        level: 'RequestResponse',
        requestObject: { a: ['\n'] },
        responseObject: null,
        impersonatedUser: { username: 'x"y', extra: { a: ['b'] } },
        authenticationMetadata: { impersonationConstraint: 'c' },
      },
    ],
    ['what JSON escapes', { requestURI: '/api/"\\\n\u0000\u001f\u007f', userAgent: 'ü\u2028😀', verb: '\ud800', auditID: '\udfff' }],
  ])('is the JSON of an event with %s', (_, fields) => {
    const event = { ...EVENT, ...fields };
    expect(new EventLines().encode(event)).toBe(encodeJson(event));
  });

  it('names the users of several requests', () => {
    const lines = new EventLines();
    const users = new EventUsers();
    const [jane, joe] = [
      { name: 'jane', groups: ['a'] },
      { name: 'joe', uid: '7', groups: [], extra: { key: ['value'] } },
    ];
    for (const user of [undefined, jane, joe, jane]) {
      const event = { ...EVENT, user: users.of(user) };
      expect(lines.encode(event)).toBe(encodeJson(event));
    }
    expect(users.of(jane)).toBe(users.of(jane));
    expect(users.of(joe)).toEqual({ username: 'joe', uid: '7', groups: [], extra: { key: ['value'] } });
  });
});
