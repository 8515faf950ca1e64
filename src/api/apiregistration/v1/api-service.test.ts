import { describe, expect, test } from 'vitest';
import { apiServiceBehaviour } from './api-service.behaviour.ts';
import type { APIService } from './api-service.ts';

const behaviour = apiServiceBehaviour as Required<typeof apiServiceBehaviour>;
const SPEC = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 };
const service = (spec: object = {}, name = 'v1.example.com'): APIService =>
  behaviour.defaults({ metadata: { name }, spec: { ...SPEC, ...spec } });

test('the service port of an APIService defaults to 443', () => {
  expect(service({ service: { namespace: 'ns', name: 's' } }).spec).toEqual({
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    service: { namespace: 'ns', name: 's', port: 443 },
  });
});

test.each<[string, object, readonly string[]]>([
  ['that is local', {}, []],
  ['of another server', { service: { namespace: 'ns', name: 's' }, caBundle: 'AAAA' }, []],
  [
    'of a group called otherwise',
    { group: 'other.com' },
    ['metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "v1.other.com"'],
  ],
  [
    'of a bad version',
    { version: 'V_1' },
    [
      'metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "V_1.example.com"',
      "spec.version: Invalid value: \"V_1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    'of the core group, first of all',
    { groupPriorityMinimum: 20_001, versionPriority: 1001 },
    [
      'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
    ],
  ],
  [
    'of no priority',
    { groupPriorityMinimum: 0, versionPriority: 0 },
    [
      'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
    ],
  ],
  [
    'that is local, with a bundle',
    { caBundle: 'AAAA' },
    ['spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle'],
  ],
  [
    'that is local, and not to be trusted',
    { insecureSkipTLSVerify: true },
    ['spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify'],
  ],
  [
    'of another server that has no name',
    { service: { namespace: '', name: '' }, insecureSkipTLSVerify: true },
    ['spec.service.namespace: Required value', 'spec.service.name: Required value'],
  ],
  [
    'of another server, not to be trusted but with a bundle',
    { service: { namespace: 'ns', name: 's', port: 70_000 }, caBundle: 'AAAA', insecureSkipTLSVerify: true },
    [
      'spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
      'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
    ],
  ],
])('a service %s', (_, spec, errors) => {
  expect(behaviour.validate(service(spec)).map(String)).toEqual(errors);
});

describe('its table', () => {
  test.each<[string, APIService, unknown]>([
    [
      'a local one',
      { ...service(), status: { conditions: [{ type: 'Available', status: 'True' }] } },
      ['v1.example.com', 'Local', 'True', '<unknown>'],
    ],
    [
      'a remote one that fails',
      {
        ...service({ service: { namespace: 'ns', name: 's' } }),
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
      },
      ['v1.example.com', 'ns/s', 'False (MissingEndpoints)', '<unknown>'],
    ],
  ])('prints %s', (_, object, cells) => {
    expect(behaviour.table.cells(object, 0)).toEqual(cells);
  });
});
