import { describe, expect, test } from 'vitest';
import { ADMISSION_REQUEST_TYPE } from './admission-types.ts';
import { PolicyVariables } from './policy-variables.ts';
import { BOOL, DYN } from './types.ts';

const OPTIONS = { variables: { object: DYN, request: ADMISSION_REQUEST_TYPE } };
const ACTIVATION = { object: { spec: { replicas: 3 } }, request: { name: 'n', operation: 'CREATE' } };

function policy(...definitions: readonly [name: string, expression: string][]): PolicyVariables {
  const variables = new PolicyVariables(OPTIONS);
  for (const [name, expression] of definitions) variables.define(name, expression);
  return variables;
}

function evaluate(variables: PolicyVariables, expression: string) {
  const result = variables.compile(expression);
  if (!result.ok) return result.message;
  const bound = variables.bind(ACTIVATION);
  const outcome = result.program.run(bound.activation);
  return outcome.error?.message ?? outcome.value;
}

describe('variables of a policy', () => {
  test('are known by name and type to what comes after them', () => {
    const variables = policy(['replicas', 'object.spec.replicas'], ['many', 'variables.replicas > 2'], ['text', '"x"']);
    expect(evaluate(variables, 'variables.many && variables.replicas == 3')).toBe(true);
    expect(variables.compile('variables.many', { resultTypes: [BOOL] }).ok).toBe(true);
    expect(evaluate(variables, 'variables.text + 1 == ""')).toContain("applied to '(string, int)'");
  });

  test('are not known before they are defined', () => {
    expect(policy().define('a', 'variables.b')).toMatchObject({
      message: "ERROR: <input>:1:10: undefined field 'b'\n | variables.b\n | .........^",
    });
  });

  test('are evaluated at most once, and only if needed', () => {
    const variables = policy(['cheap', '1'], ['dear', 'lists.range(100).size()']);
    const compiled = variables.compile('variables.cheap + variables.dear + variables.dear').program;
    const bound = variables.bind(ACTIVATION);
    expect(compiled?.evaluate(bound.activation)).toBe(201);
    const cost = bound.takeCost();
    expect(cost).toBeGreaterThan(100);
    expect(cost).toBeLessThan(200);
    compiled?.evaluate(bound.activation);
    expect(bound.takeCost()).toBe(0);
    const unused = variables.bind(ACTIVATION);
    variables.compile('true || variables.dear > 1').program?.evaluate(unused.activation);
    expect(unused.takeCost()).toBe(0);
  });

  test('hand on their failures, which || absorbs like any other', () => {
    const variables = policy(['bad', 'object.nope'], ['wrong', 'nope'], ['nothing', 'null']);
    expect(evaluate(variables, 'variables.bad == 1')).toBe('composited variable "bad" fails to evaluate: no such key: nope');
    expect(evaluate(variables, 'variables.bad == 1 || true')).toBe(true);
    expect(evaluate(variables, 'variables.wrong == 1')).toMatch(/^composited variable "wrong" fails to compile: ERROR/);
    expect(evaluate(variables, 'variables.nothing == null')).toBe(true);
    expect(evaluate(variables, 'has(variables.nothing)')).toBe(true);
  });
});

test('the CEL variable request has declared fields', () => {
  expect(evaluate(policy(), 'request.operation == "CREATE" && !has(request.namespace)')).toBe(true);
  expect(evaluate(policy(), 'request.nope')).toContain("undefined field 'nope'");
});
