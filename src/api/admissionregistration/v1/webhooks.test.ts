import { describe, expect, test } from 'vitest';
import { mutatingWebhookConfigurationBehaviour } from './mutating-webhook-configuration.behaviour.ts';
import { validatingWebhookConfigurationBehaviour } from './validating-webhook-configuration.behaviour.ts';

const validating = validatingWebhookConfigurationBehaviour as Required<typeof validatingWebhookConfigurationBehaviour>;
const mutating = mutatingWebhookConfigurationBehaviour as Required<typeof mutatingWebhookConfigurationBehaviour>;
const HOOK = {
  name: 'hook.example.com',
  clientConfig: { url: 'https://hook.example.com/check' },
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

const configuration = (...hooks: readonly object[]) =>
  validating.defaults({ metadata: { name: 'a' }, webhooks: hooks.map((hook) => ({ ...HOOK, ...hook })) } as never);
const errorsOf = (...hooks: readonly object[]) => validating.validate(configuration(...hooks)).map(String);

test('webhooks default to failurePolicy Fail, matchPolicy Equivalent and a timeout of ten seconds', () => {
  expect(configuration({}).webhooks?.[0]).toEqual({
    name: 'hook.example.com',
    clientConfig: { url: 'https://hook.example.com/check' },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });
  expect(mutating.defaults({ metadata: { name: 'a' }, webhooks: [HOOK] } as never).webhooks?.[0]?.reinvocationPolicy).toBe('Never');
});

describe('what is refused', () => {
  test.each<[string, object, readonly string[]]>([
    [
      'a name without a domain',
      { name: 'hook' },
      ['webhooks[0].name: Invalid value: "hook": should be a domain with at least three segments separated by dots'],
    ],
    [
      'unknown policies',
      { failurePolicy: 'Shrug', matchPolicy: 'Roughly', sideEffects: 'Many' },
      [
        'webhooks[0].failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"',
        'webhooks[0].matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"',
        'webhooks[0].sideEffects: Unsupported value: "Many": supported values: "None", "NoneOnDryRun"',
      ],
    ],
    [
      'no time, and too much',
      { timeoutSeconds: 31 },
      ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
    [
      'a URL that is none of ours',
      { clientConfig: { url: 'http://user@example.com/?a=b#c' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "user": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      ],
    ],
    ['no way to call it', { clientConfig: {} }, ['webhooks[0].clientConfig: Required value: exactly one of url or service is required']],
    [
      'two ways to call it',
      { clientConfig: { url: 'https://a', service: { namespace: 'ns', name: 's' } } },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'a service without a name',
      { clientConfig: { service: { namespace: '', name: '', path: 'x', port: 70_000 } } },
      [
        'webhooks[0].clientConfig.service.name: Required value',
        'webhooks[0].clientConfig.service.namespace: Required value',
        'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
        'webhooks[0].clientConfig.service.path: Invalid value: "x": must start with a \'/\'',
        'webhooks[0].clientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
      ],
    ],
    [
      'no versions of reviews',
      { admissionReviewVersions: [] },
      ['webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
    ],
    [
      'unknown versions of reviews',
      { admissionReviewVersions: ['v9', 'v9', 'V_'] },
      [
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v9": duplicate version',
        "webhooks[0].admissionReviewVersions[2]: Invalid value: \"V_\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        'webhooks[0].admissionReviewVersions: Invalid value: ["v9","v9","V_"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'empty rules',
      { rules: [{ operations: [], apiGroups: [], apiVersions: [], resources: [] }] },
      [
        'webhooks[0].rules[0].operations: Required value',
        'webhooks[0].rules[0].apiGroups: Required value',
        'webhooks[0].rules[0].apiVersions: Required value',
        'webhooks[0].rules[0].resources: Required value',
      ],
    ],
    [
      'rules with stars among others',
      {
        rules: [
          { operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: [''], resources: ['*/*', 'pods', 'pods/'], scope: 'Galaxy' },
        ],
      },
      [
        'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
        'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
        'webhooks[0].rules[0].apiVersions[0]: Required value',
        'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods","pods/"]: if \'*/*\' is present, must not specify other resources',
        'webhooks[0].rules[0].scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"',
      ],
    ],
    [
      'conditions that do not compile',
      {
        matchConditions: [
          { name: 'a', expression: 'object.x ==' },
          { name: 'a', expression: '1 + 1' },
          { name: '', expression: '' },
        ],
      },
      [
        "webhooks[0].matchConditions[0].expression: Invalid value: \"object.x ==\": compilation failed: ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.x ==\n | ...........^",
        'webhooks[0].matchConditions[1].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
        'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
        'webhooks[0].matchConditions[2].expression: Required value',
        'webhooks[0].matchConditions[2].name: Required value',
      ],
    ],
    [
      'a bad selector',
      { objectSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
      ['webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator'],
    ],
  ])('%s', (_, hook, errors) => {
    expect(errorsOf(hook)).toEqual(errors);
  });

  test('the same name twice', () => {
    expect(errorsOf({}, {})).toEqual(['webhooks[1].name: Duplicate value: "hook.example.com"']);
  });
});

test('an update may keep values that newer rules reject', () => {
  const old = configuration({ admissionReviewVersions: ['v9'], sideEffects: 'Unknown' });
  expect(
    validating
      .validateUpdate(configuration({ admissionReviewVersions: ['v9'], sideEffects: 'Unknown', timeoutSeconds: 5 }), old)
      .map(String),
  ).toEqual([]);
});

test('the table of webhook configurations shows the number of webhooks', () => {
  expect(validating.table.cells(configuration({}, { name: 'b.example.com' }), 0)).toEqual(['a', 2, '<unknown>']);
});
