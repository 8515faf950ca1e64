import { describe, expect, test } from 'vitest';
import { validateAdminAccess, validateAllocatedAdminAccess } from './admin-access.validation.ts';
import { deviceClassBehaviour } from './device-class.behaviour.ts';
import { resourceClaimBehaviour } from './resource-claim.behaviour.ts';
import type { ResourceClaim } from './resource-claim.ts';
import { resourceClaimTemplateBehaviour } from './resource-claim-template.behaviour.ts';

const claims = resourceClaimBehaviour as Required<typeof resourceClaimBehaviour>;
const templates = resourceClaimTemplateBehaviour as Required<typeof resourceClaimTemplateBehaviour>;
const classes = deviceClassBehaviour as Required<typeof deviceClassBehaviour>;
const EXACTLY = { deviceClassName: 'gpu.example.com' };
const metadata = { name: 'a', namespace: 'ns' };

function claim(devices: object, status?: object): ResourceClaim {
  return claims.defaults({ metadata, spec: { devices }, ...(status && { status }) } as never);
}

test.each([
  ['a class', classes, []],
  ['a claim', claims, ['metadata.generateName']],
])('the generateName of %s is validated as upstream does', (_, behaviour, fields) => {
  const object = { metadata: { ...metadata, generateName: 'Bad_' }, spec: { devices: {} } };
  const errors = behaviour.validate(object as never).map(({ field }) => String(field));
  expect(errors.filter((field) => field.includes('generateName'))).toEqual(fields);
});

describe('a claim', () => {
  test('is for one device unless told, and tolerates what it equals', () => {
    const devices = {
      requests: [
        { name: 'a', exactly: EXACTLY },
        { name: 'b', firstAvailable: [{ ...EXACTLY, name: 'x', allocationMode: 'All', tolerations: [{ key: 'k' }] }] },
      ],
    };
    expect(claim(devices).spec).toEqual({
      devices: {
        requests: [
          { name: 'a', exactly: { deviceClassName: 'gpu.example.com', allocationMode: 'ExactCount', count: 1 } },
          {
            name: 'b',
            firstAvailable: [
              { deviceClassName: 'gpu.example.com', name: 'x', allocationMode: 'All', tolerations: [{ key: 'k', operator: 'Equal' }] },
            ],
          },
        ],
      },
    });
    const template = templates.defaults({ metadata, spec: { spec: { devices } } } as never);
    expect(template.spec?.spec).toEqual(claim(devices).spec);
  });

  test.each<[string, object, readonly string[]]>([
    ['for a device', { requests: [{ name: 'r', exactly: EXACTLY }] }, []],
    [
      'for nothing in particular',
      { requests: [{ name: 'r' }] },
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    [
      'for both',
      { requests: [{ name: 'r', exactly: EXACTLY, firstAvailable: [{ ...EXACTLY, name: 'x' }] }] },
      [
        'spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      ],
    ],
    [
      'without a class, by unknown modes',
      { requests: [{ name: 'R', exactly: { allocationMode: 'Some' } }] },
      [
        "spec.devices.requests[0].name: Invalid value: \"R\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'spec.devices.requests[0].exactly.deviceClassName: Required value',
        'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      ],
    ],
    [
      'for all, counted',
      { requests: [{ name: 'r', exactly: { ...EXACTLY, allocationMode: 'All', count: 2 } }] },
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
    [
      'for the same twice',
      {
        requests: [
          { name: 'r', exactly: EXACTLY },
          { name: 'r', exactly: EXACTLY },
        ],
      },
      ['spec.devices.requests[1]: Duplicate value: "r"'],
    ],
    [
      'for too many alternatives',
      { requests: [{ name: 'r', firstAvailable: Array.from({ length: 9 }, (_, i) => ({ ...EXACTLY, name: `x${i}` })) }] },
      ['spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items'],
    ],
    [
      'with bad tolerations',
      {
        requests: [
          {
            name: 'r',
            exactly: {
              ...EXACTLY,
              tolerations: [
                { key: 'a', operator: 'Exists', value: 'x' },
                { key: 'no spaces', operator: 'Odd', effect: 'Never' },
              ],
            },
          },
        ],
      },
      [
        'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
        "spec.devices.requests[0].exactly.tolerations[1].key: Invalid value: \"no spaces\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.devices.requests[0].exactly.tolerations[1].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        'spec.devices.requests[0].exactly.tolerations[1].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      'with constraints on what is not there',
      { requests: [{ name: 'r', exactly: EXACTLY }], constraints: [{ requests: ['r', 'r', 's', 'a/b/c'], matchAttribute: 'model' }, {}] },
      [
        'spec.devices.constraints[0].requests[2]: Invalid value: "s": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
        'spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
        'spec.devices.constraints[0].requests[1]: Duplicate value: "r"',
        'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
        'spec.devices.constraints[1]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ],
    ],
    [
      'with constraints on alternatives',
      {
        requests: [{ name: 'r', firstAvailable: [{ ...EXACTLY, name: 'x' }] }],
        constraints: [{ requests: ['r/x'], distinctAttribute: 'd.example.com/model' }],
      },
      [],
    ],
    [
      'with settings that are none',
      {
        requests: [{ name: 'r', exactly: EXACTLY }],
        config: [
          {},
          { opaque: { driver: 'Not A Driver', parameters: null } },
          { opaque: { driver: 'd', parameters: [1] } },
          { opaque: { driver: 'd', parameters: { a: 'x'.repeat(10 * 1024) } } },
        ],
      },
      [
        'spec.devices.config[0].opaque: Required value',
        "spec.devices.config[1].opaque.driver: Invalid value: \"Not A Driver\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'spec.devices.config[1].opaque.parameters: Required value',
        'spec.devices.config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
        'spec.devices.config[3].opaque.parameters: Too long: may not be more than 10240 bytes',
      ],
    ],
  ])('%s', (_, devices, errors) => {
    expect(claims.validate(claim(devices)).map(String)).toEqual(errors);
  });

  test('does not change its mind', () => {
    const before = claim({ requests: [{ name: 'r', exactly: EXACTLY }] });
    expect(claims.validateUpdate(claim({ requests: [{ name: 's', exactly: EXACTLY }] }), before).map(String)[0]).toContain(
      'field is immutable',
    );
  });

  test.each<[string, object, readonly string[]]>([
    [
      'by one',
      { spec: { devices: { requests: [{ name: 'r', exactly: { ...EXACTLY, adminAccess: true } }] } } },
      [
        'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace',
      ],
    ],
  ])('asks for access beside others %s only where the namespace lets it', (_, { spec }: { spec?: never }, errors) => {
    expect(validateAdminAccess(spec, {}).map(String)).toEqual(errors);
    expect(validateAdminAccess(spec, { 'resource.kubernetes.io/admin-access': 'true' })).toEqual([]);
  });
});

describe('expressions on devices', () => {
  const errorsOf = (expression: string) =>
    classes.validate({ metadata: { name: 'a' }, spec: { selectors: [{ cel: { expression } }] } }).map(String);

  test.each<[string]>([
    ['device.driver == "d.example.com"'],
    ['device.attributes["d.example.com"].healthy'],
    ['device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) >= 0'],
    ['cel.bind(a, device.attributes["d.example.com"], a.model == "x" && a.fast)'],
    ['device.allowMultipleAllocations'],
  ])('may be %s', (expression) => {
    expect(errorsOf(expression)).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    [
      'device.',
      [
        'spec.selectors[0].cel.expression: Invalid value: "device.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input \'.\'\n | device.\n | .......^',
      ],
    ],
    [
      'device.drivers == "x"',
      [
        'spec.selectors[0].cel.expression: Invalid value: "device.drivers == \\"x\\"": compilation failed: ERROR: <input>:1:7: undefined field \'drivers\'\n | device.drivers == "x"\n | ......^',
      ],
    ],
    [
      'device.driver',
      ['spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string'],
    ],
    ['x'.repeat(10 * 1024 + 1), ['spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes']],
    [
      'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a == b && c == d))))',
      ['spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit'],
    ],
  ])('may not be %s', (expression, errors) => {
    expect(errorsOf(expression)).toEqual(errors);
  });
});

describe('what was allocated', () => {
  const DEVICES = { requests: [{ name: 'r', exactly: EXACTLY }] };
  const RESULT = { request: 'r', driver: 'd.example.com', pool: 'p', device: 'dev-0' };
  const ALLOCATION = { devices: { results: [RESULT] } };
  const CONSUMER = { resource: 'pods', name: 'p', uid: '1' };
  const errorsOf = (status: object, before: object = {}) =>
    claims.validateStatusUpdate(claim(DEVICES, status), claim(DEVICES, before)).map(String);

  test.each<[string, object, readonly string[]]>([
    ['is a device of a pool', { allocation: ALLOCATION, reservedFor: [CONSUMER] }, []],
    [
      'is for a request of the claim',
      { allocation: { devices: { results: [{ ...RESULT, request: 'x', pool: 'P_', device: '' }] } } },
      [
        'status.allocation.devices.results[0].request: Invalid value: "x": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
        "status.allocation.devices.results[0].pool: Invalid value: \"P_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "status.allocation.devices.results[0].device: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'comes with settings of the claim or its class',
      { allocation: { devices: { config: [{ source: 'Thin air', opaque: { driver: 'd', parameters: {} } }] } } },
      ['status.allocation.devices.config[0].source: Unsupported value: "Thin air": supported values: "FromClaim", "FromClass"'],
    ],
    [
      'comes before it is reserved',
      { reservedFor: [CONSUMER] },
      ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
    ],
    [
      'is reserved for somebody, once',
      { allocation: ALLOCATION, reservedFor: [{}, CONSUMER, CONSUMER] },
      [
        'status.reservedFor[0].resource: Required value',
        'status.reservedFor[0].name: Required value',
        'status.reservedFor[0].uid: Required value',
        'status.reservedFor[2]: Duplicate value: "1"',
      ],
    ],
    [
      'is what drivers report on',
      {
        allocation: ALLOCATION,
        devices: [
          { ...RESULT, device: 'other', conditions: [], networkData: { ips: ['10.0.0.1', '10.0.0.1/08', '10.0.0.1/8', '10.0.0.1/8'] } },
        ],
      },
      [
        'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"other","ShareID":""}: must be an allocated device in the claim',
        'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.1/08": must be in canonical form ("10.0.0.1/8")',
        'status.devices[0].networkData.ips[3]: Duplicate value: "10.0.0.1/8"',
      ],
    ],
    [
      'is shared by shares with ids',
      {
        allocation: {
          devices: {
            results: [
              { ...RESULT, shareID: 'x' },
              { ...RESULT, shareID: 'A1B2C3D4-0000-0000-0000-000000000000' },
            ],
          },
        },
      },
      [
        'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
        'status.allocation.devices.results[1].shareID: Invalid value: "A1B2C3D4-0000-0000-0000-000000000000": uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
      ],
    ],
    [
      'waits for conditions that can fail',
      {
        allocation: {
          devices: {
            results: [
              { ...RESULT, bindingConditions: ['a', 'a'] },
              { ...RESULT, bindingConditions: ['a'], bindingFailureConditions: ['a'] },
            ],
          },
        },
      },
      [
        'status.allocation.devices.results[0].bindingConditions[1]: Duplicate value: "a"',
        'status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
        'status.allocation.devices.results[1].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
      ],
    ],
  ])('%s', (_, status, errors) => {
    expect(errorsOf(status)).toEqual(errors);
  });

  test('stays as it is', () => {
    expect(errorsOf({ allocation: { devices: { results: [] } } }, { allocation: ALLOCATION })[0]).toMatch(
      /^status\.allocation: Invalid value: .*field is immutable$/,
    );
  });

  test('may be for access beside others, where the namespace lets it', () => {
    const admin = claim(DEVICES, { allocation: { devices: { results: [{ ...RESULT, adminAccess: true }] } } });
    expect(validateAllocatedAdminAccess(admin, claim(DEVICES)).map(String)).toEqual([
      'status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace',
    ]);
    expect(validateAllocatedAdminAccess(admin, admin)).toEqual([]);
  });

  test('shows in the table', () => {
    expect(claims.table.cells(claim(DEVICES), 0)).toEqual(['a', 'pending', '<unknown>']);
    expect(claims.table.cells(claim(DEVICES, { allocation: ALLOCATION, reservedFor: [CONSUMER] }), 0)[1]).toBe('allocated,reserved');
    expect(claims.table.cells({ ...claim(DEVICES), metadata: { name: 'a', deletionTimestamp: '2030-01-01T00:00:00Z' } }, 0)[1]).toBe(
      'deleted',
    );
  });
});
