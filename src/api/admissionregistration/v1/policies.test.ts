import { describe, expect, test } from 'vitest';
import { mutatingAdmissionPolicyBehaviour } from './mutating-admission-policy.behaviour.ts';
import { validatingAdmissionPolicyBehaviour } from './validating-admission-policy.behaviour.ts';
import { validatingAdmissionPolicyBindingBehaviour } from './validating-admission-policy-binding.behaviour.ts';

const validating = validatingAdmissionPolicyBehaviour as Required<typeof validatingAdmissionPolicyBehaviour>;
const mutating = mutatingAdmissionPolicyBehaviour as Required<typeof mutatingAdmissionPolicyBehaviour>;
const bindings = validatingAdmissionPolicyBindingBehaviour as Required<typeof validatingAdmissionPolicyBindingBehaviour>;
const RULES = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }];
const CONSTRAINTS = { resourceRules: RULES };

describe('a validating policy', () => {
  const policy = (spec: object) =>
    validating.defaults({
      metadata: { name: 'a' },
      spec: { matchConstraints: CONSTRAINTS, validations: [{ expression: 'true' }], ...spec },
    } as never);

  test('matches everything it names, and fails closed, unless told', () => {
    expect(policy({}).spec).toEqual({
      matchConstraints: {
        resourceRules: [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], scope: '*' }],
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
      },
      validations: [{ expression: 'true' }],
      failurePolicy: 'Fail',
    });
  });

  test.each<[string, object, readonly string[]]>([
    [
      'that compiles',
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        variables: [{ name: 'n', expression: 'object.spec.replicas' }],
        validations: [{ expression: 'variables.n < int(params.data.max)' }],
      },
      [],
    ],
    [
      'of nothing',
      { validations: [], auditAnnotations: [] },
      [
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    ],
    ['that matches nothing', { matchConstraints: undefined }, ['spec.matchConstraints: Required value']],
    [
      'whose expression is empty',
      { validations: [{ expression: ' ' }] },
      ['spec.validations[0].expression: Required value: expression is not specified'],
    ],
    [
      'whose expression is no truth',
      { validations: [{ expression: '1 + 1' }] },
      ['spec.validations[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int'],
    ],
    [
      'whose expression does not compile',
      { validations: [{ expression: 'object.spec.' }] },
      [
        'spec.validations[0].expression: Invalid value: "object.spec.": compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input \'.\'\n | object.spec.\n | ............^',
      ],
    ],
    [
      'whose expression uses parameters that it has not',
      { validations: [{ expression: 'params.x == 1' }] },
      [
        "spec.validations[0].expression: Invalid value: \"params.x == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^",
      ],
    ],
    [
      'whose messages are odd',
      {
        validations: [
          { expression: 'true', message: ' ' },
          { expression: 'true', message: 'a\nb' },
          { expression: 'true\n', message: '' },
        ],
      },
      [
        'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
        'spec.validations[1].message: Invalid value: "a\\nb": must not contain line breaks',
      ],
    ],
    [
      'whose message does not give text',
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      ['spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int'],
    ],
    [
      'with an unknown reason',
      { validations: [{ expression: 'true', reason: 'Mood' }] },
      ['spec.validations[0].reason: Unsupported value: "Mood": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"'],
    ],
    [
      'with an unknown failure policy',
      { failurePolicy: 'Shrug' },
      ['spec.failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"'],
    ],
    [
      'with bad variables',
      {
        variables: [
          { name: '', expression: '' },
          { name: 'a-b', expression: 'true' },
          { name: 'c', expression: 'variables.later' },
        ],
      },
      [
        'spec.variables[0].name: Required value: name is not specified',
        'spec.variables[0].expression: Required value: expression is not specified',
        'spec.variables[1].name: Invalid value: "a-b": must be a valid CEL identifier',
        'spec.variables[2].expression: Invalid value: "variables.later": compilation failed: ERROR: <input>:1:10: undefined field \'later\'\n | variables.later\n | .........^',
      ],
    ],
    [
      'with bad parameters',
      { paramKind: { apiVersion: 'a/b/c', kind: '' } },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c', 'spec.paramKind.kind: Required value'],
    ],
    [
      'with bad annotations',
      {
        auditAnnotations: [
          { key: 'Not A Key', valueExpression: '1' },
          { key: '', valueExpression: '' },
        ],
      },
      [
        "spec.auditAnnotations[0].key: Invalid value: \"a/Not A Key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
        'spec.auditAnnotations[1].key: Invalid value: "a/": name part must be non-empty',
        "spec.auditAnnotations[1].key: Invalid value: \"a/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(validating.validate(policy(spec)).map(String)).toEqual(errors);
  });
});

test('the findings of type checking must say where', () => {
  const expressionWarnings = [
    { fieldRef: ' ', warning: 'w' },
    { fieldRef: 'spec.validations[0', warning: '' },
    { fieldRef: 'spec.validations[0].expression', warning: 'w' },
  ];
  const policy = { metadata: { name: 'a' }, spec: {}, status: { typeChecking: { expressionWarnings } } } as never;
  expect(validating.validateStatusUpdate(policy, policy).map(String)).toEqual([
    'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
    'status.typeChecking.expressionWarnings[1].warning: Required value',
    'status.typeChecking.expressionWarnings[1].fieldRef: Invalid value: "spec.validations[0": invalid JSONPath: unterminated array',
  ]);
});

describe('a mutating policy', () => {
  const policy = (spec: object) =>
    mutating.defaults({
      metadata: { name: 'a' },
      spec: {
        matchConstraints: CONSTRAINTS,
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' } },
        ],
        ...spec,
      },
    } as never);

  test.each<[string, object, readonly string[]]>([
    ['that compiles', {}, []],
    [
      'of JSON patches',
      { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/a", value: "b"}]' } }] },
      [],
    ],
    ['of nothing', { mutations: [] }, ['spec.mutations: Required value: mutations must contain at least one item']],
    [
      'of an unknown form',
      { mutations: [{ patchType: 'Magic' }] },
      ['spec.mutations[0].patchType: Unsupported value: "Magic": supported values: "ApplyConfiguration", "JSONPatch"'],
    ],
    [
      'of a form without its expression',
      { mutations: [{ patchType: 'JSONPatch' }] },
      ['spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch'],
    ],
    [
      'whose expression gives no object',
      { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: '"text"' } }] },
      ['spec.mutations[0].applyConfiguration.expression: Invalid value: "\\"text\\"": must evaluate to Object but got string'],
    ],
    [
      'that is run again at whim',
      { reinvocationPolicy: 'Whenever' },
      ['spec.reinvocationPolicy: Unsupported value: "Whenever": supported values: "IfNeeded", "Never"'],
    ],
    [
      'of deletions',
      { matchConstraints: { resourceRules: [{ ...RULES[0], operations: ['DELETE'] }] } },
      ['spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(mutating.validate(policy(spec)).map(String)).toEqual(errors);
  });
});

describe('a binding', () => {
  test.each<[string, object, readonly string[]]>([
    ['of a policy', { policyName: 'p', validationActions: ['Deny'] }, []],
    [
      'of none',
      { validationActions: [] },
      ['spec.policyName: Required value', 'spec.validationActions: Required value: at least one validation action is required'],
    ],
    [
      'that denies and warns',
      { policyName: 'p', validationActions: ['Deny', 'Warn', 'Warn', 'Shout'] },
      [
        'spec.validationActions[2]: Duplicate value: "Warn"',
        'spec.validationActions[3]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
        'spec.validationActions: Invalid value: ["Deny","Warn","Warn","Shout"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'with parameters by name and selector',
      { policyName: 'p', validationActions: ['Audit'], paramRef: { name: 'x', selector: {}, parameterNotFoundAction: 'Deny' } },
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      ],
    ],
    [
      'with parameters of no kind',
      { policyName: 'p', validationActions: ['Audit'], paramRef: { parameterNotFoundAction: 'Ignore' } },
      [
        'spec.paramRef: Required value: one of name or selector must be specified',
        'spec.paramRef.parameterNotFoundAction: Unsupported value: "Ignore": supported values: "Deny", "Allow"',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(bindings.validate(bindings.defaults({ metadata: { name: 'a' }, spec } as never)).map(String)).toEqual(errors);
  });
});
