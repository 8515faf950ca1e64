import { describe, expect, test } from 'vitest';
import { resourceSliceBehaviour } from './resource-slice.behaviour.ts';
import type { ResourceSlice } from './resource-slice.ts';

const slices = resourceSliceBehaviour as Required<typeof resourceSliceBehaviour>;

describe('a slice', () => {
  const slice = (spec: object): ResourceSlice => ({
    metadata: { name: 'a' },
    spec: { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, allNodes: true, ...spec },
  });
  const errorsOf = (spec: object) => slices.validate(slice(spec)).map(String);
  const device = (parts: object) => ({ devices: [{ name: 'dev-0', ...parts }] });

  test.each<[string, object, readonly string[]]>([
    [
      'of a device',
      device({
        attributes: { model: { string: 'm' }, 'd.example.com/v': { version: '1.2.3-rc.1' } },
        capacity: { memory: { value: '1Gi' } },
      }),
      [],
    ],
    [
      'of no node',
      { allNodes: undefined },
      ['spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'],
    ],
    [
      'of false',
      { allNodes: false, perDeviceNodeSelection: false, nodeName: '' },
      [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
        'spec.allNodes: Invalid value: false: must be either unset or set to true',
        'spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true',
        'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
      ],
    ],
    [
      'of nodes by two terms',
      { allNodes: undefined, nodeSelector: { nodeSelectorTerms: [{}, {}] } },
      [
        'spec.nodeSelector.nodeSelectorTerms: Invalid value: [{"MatchExpressions":null,"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: must have exactly one node selector term',
      ],
    ],
    [
      'with attributes that are none',
      device({ attributes: { 'a-b': { string: 'x'.repeat(65) }, '/x': { version: '1' }, 'd/': {}, two: { int: 1, bool: true } } }),
      [
        'spec.devices[0].attributes: Invalid value: "": the domain must not be empty',
        'spec.devices[0].attributes[/x].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        "spec.devices[0].attributes: Invalid value: \"a-b\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
        'spec.devices[0].attributes[a-b].string: Too long: may not be more than 64 bytes',
        'spec.devices[0].attributes: Invalid value: "": the name must not be empty',
        'spec.devices[0].attributes[d/]: Invalid value: "": exactly one value must be specified',
        'spec.devices[0].attributes[two]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
      ],
    ],
    [
      'with too many attributes',
      device({ attributes: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, { int: i }])) }),
      ['spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32'],
    ],
    [
      'with bad taints',
      device({
        taints: [
          { key: '', effect: '' },
          { key: 'a', value: 'not a value!', effect: 'Never' },
        ],
      }),
      [
        'spec.devices[0].taints[0].key: Invalid value: "": name part must be non-empty',
        "spec.devices[0].taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.devices[0].taints[0].effect: Required value',
        "spec.devices[0].taints[1].value: Invalid value: \"not a value!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        'spec.devices[0].taints[1].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      'whose devices say by themselves where they are',
      { allNodes: undefined, perDeviceNodeSelection: true, devices: [{ name: 'a' }, { name: 'b', nodeName: 'n', allNodes: true }] },
      [
        'spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
        'spec.devices[1]: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
    [
      'whose devices may not say where they are',
      device({ nodeName: 'n' }),
      [
        'spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
    [
      'with portions of a device that is not shared',
      device({ capacity: { memory: { value: '1Gi', requestPolicy: {} } } }),
      ['spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true'],
    ],
    [
      'with portions that do not add up',
      device({
        allowMultipleAllocations: true,
        capacity: {
          a: { value: '4', requestPolicy: { default: '3', validValues: ['2', '1', '5'] } },
          b: { value: '4', requestPolicy: { default: '3', validRange: { min: '2', max: '9', step: '2' } } },
          c: { value: '4', requestPolicy: { validValues: ['1'] } },
        },
      }),
      [
        'spec.devices[0].capacity[a].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
        'spec.devices[0].capacity[a].requestPolicy.validValues[2]: Invalid value: "5": option is larger than capacity value: 4',
        'spec.devices[0].capacity[a].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
        'spec.devices[0].capacity[b].requestPolicy.validRange.max: Invalid value: "9": max is larger than capacity value: 4',
        'spec.devices[0].capacity[b].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (2) from (2)',
        'spec.devices[0].capacity[b].requestPolicy.validRange.step: Invalid value: "9": value is not a multiple of a given step (2) from (2)',
        'spec.devices[0].capacity[c].requestPolicy.default: Required value: required when validValues is defined',
      ],
    ],
    [
      'of counters and devices',
      { devices: [], sharedCounters: [{ name: 'c', counters: {} }] },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed', 'spec.sharedCounters[0].counters: Required value'],
    ],
    [
      'of devices that take from counters',
      device({
        consumesCounters: [
          { counterSet: '', counters: {} },
          { counterSet: 'a', counters: { B: { value: '1' } } },
          { counterSet: 'a', counters: { b: { value: '1' } } },
        ],
      }),
      ['spec.devices[0].consumesCounters: Too many: 3: must have at most 2 items'],
    ],
    [
      'of too many devices',
      { devices: Array.from({ length: 129 }, (_, i) => ({ name: `d${i}` })) },
      ['spec.devices: Too many: 129: must have at most 128 items'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });

  test('stays with its driver, pool and node', () => {
    const after = slice({
      driver: 'e.example.com',
      pool: { name: 'q', generation: 1, resourceSliceCount: 1 },
      allNodes: undefined,
      nodeName: 'n',
    });
    expect(slices.validateUpdate(after, slice({})).map(String)).toEqual([
      'spec.pool.name: Invalid value: "q": field is immutable',
      'spec.driver: Invalid value: "e.example.com": field is immutable',
      'spec.nodeName: Invalid value: "n": field is immutable',
    ]);
  });

  test('warns of a driver in capitals, and can be selected by driver and node', () => {
    expect(slices.warnings(slice({ driver: 'D.example.com' }))).toEqual([
      'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters',
    ]);
    expect(slices.selectableFields['spec.driver']?.(slice({}))).toBe('d.example.com');
    expect(slices.selectableFields['spec.nodeName']?.(slice({ nodeName: 'n' }))).toBe('n');
    expect(slices.table.cells(slice({}), 0)).toEqual(['a', '', 'd.example.com', 'p', '<unknown>']);
  });
});
