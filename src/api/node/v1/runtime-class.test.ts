import { describe, expect, test } from 'vitest';
import { runtimeClassBehaviour } from './runtime-class.behaviour.ts';

const runtimes = runtimeClassBehaviour as Required<typeof runtimeClassBehaviour>;

describe('a runtime class', () => {
  test.each<[string, object, readonly string[]]>([
    ['with a handler', { handler: 'gvisor' }, []],
    [
      'with a bad handler',
      { handler: 'G Visor' },
      [
        "handler: Invalid value: \"G Visor\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'with an overhead that is none',
      { handler: 'a', overhead: { podFixed: { cpu: '-1', 'no spaces': '1' } } },
      [
        'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        "overhead.limits[no spaces]: Invalid value: \"no spaces\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'overhead.limits[no spaces]: Invalid value: "no spaces": must be a standard resource for containers',
      ],
    ],
    [
      'with scheduling that is none',
      {
        handler: 'a',
        scheduling: {
          nodeSelector: { 'not a key': '' },
          tolerations: [
            { key: 'a', operator: 'Odd' },
            { key: 'a', operator: 'Odd' },
          ],
        },
      },
      [
        "scheduling.nodeSelector: Invalid value: \"not a key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'scheduling.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        'scheduling.tolerations[1].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        'scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Odd","Value":"","Effect":"","TolerationSeconds":null}',
      ],
    ],
  ])('%s', (_, parts, errors) => {
    expect(runtimes.validate(runtimes.defaults({ metadata: { name: 'a' }, ...parts } as never)).map(String)).toEqual(errors);
  });

  test('keeps its handler', () => {
    expect(
      runtimes.validateUpdate({ metadata: { name: 'a' }, handler: 'b' }, { metadata: { name: 'a' }, handler: 'a' }).map(String),
    ).toEqual(['handler: Invalid value: "b": field is immutable']);
  });
});
