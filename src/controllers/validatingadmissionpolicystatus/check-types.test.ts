import { describe, expect, it } from 'vitest';
import { checkTypes as checkAgainst } from './check-types.ts';
import { builtInKinds, definedKinds } from './checked-kinds.ts';

const DEFINITION = {
  metadata: { name: 'wheels.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'wheels', kind: 'Wheel' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
        },
      },
    ],
  },
};
const KINDS = [...builtInKinds(), ...definedKinds(DEFINITION)];
const checkTypes = (of: Parameters<typeof checkAgainst>[0]) => checkAgainst(of, KINDS);
const rule = (fields = {}) => ({ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'], ...fields });
const policy = (expression: string, fields = {}, spec = {}) => ({
  metadata: { name: 'p' },
  spec: { matchConstraints: { resourceRules: [rule(fields)] }, validations: [{ expression }], ...spec },
});

describe('the types in a policy', () => {
  it.each([
    ['object.spec.replicas > 1'],
    ['object.spec.template.spec.containers.all(c, c.image.startsWith("x"))'],
    ['object.metadata.creationTimestamp < timestamp("2020-01-01T00:00:00Z") && oldObject.spec.paused'],
    ['authorizer.group("").resource("pods").check("get").allowed()'],
    ['object.metadata.labels["a"] == "b" && object.metadata.?namespace.orValue("") == ""'],
  ])('are right in %s', (expression) => expect(checkTypes(policy(expression))).toEqual([]));

  it('are reported where they are wrong', () => {
    expect(checkTypes(policy('object.spec.replicas > "1"'))).toEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning: expect.stringMatching(/^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_'/),
      },
    ]);
    expect(checkTypes(policy('object.spec.nope == 1'))[0]?.warning).toContain("undefined field 'nope'");
  });

  it('are those of every kind that the rules name, and of parameters', () => {
    const both = policy('object.spec.replicas > 1', { resources: ['deployments', 'daemonsets'] });
    expect(checkTypes(both)[0]?.warning).toMatch(/^apps\/v1, Kind=DaemonSet: /);
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect(checkTypes(policy('params.data["a"] == "b"', {}, { paramKind }))).toEqual([]);
    expect(checkTypes(policy('params.nope == "b"', {}, { paramKind }))[0]?.warning).toContain("undefined field 'nope'");
  });

  it.each([
    ['object.spec.template.spec.containers[0].resources.limits.size() > 0', "undefined field 'limits'"],
    ['object.spec.strategy.rollingUpdate.maxSurge == 1', "undefined field 'maxSurge'"],
    ['authorizer.requestResource.check("get").allowed()', "unexpected failed resolution of 'kubernetes.authorization.Authorizer'"],
  ])('are wrong where published schemas do not tell them: %s', (expression, problem) => {
    expect(checkTypes(policy(expression))[0]?.warning).toContain(problem);
  });

  it('are those of custom resources too', () => {
    const custom = { apiGroups: ['example.com'], resources: ['wheels'] };
    expect(checkTypes(policy('object.spec.size > 1 && object.metadata.labels["a"] == "b"', custom))).toEqual([]);
    expect(checkTypes(policy('object.spec.colour == "red"', custom))[0]?.warning).toMatch(
      /^example.com\/v1, Kind=Wheel: ERROR: <input>:1:12: undefined field 'colour'/,
    );
  });

  it('are not checked for wildcards', () => {
    expect(checkTypes(policy('object.spec.nope == 1', { apiGroups: ['*'] }))).toEqual([]);
    expect(checkTypes(policy('object.spec.nope == 1', { resources: ['*'] }))).toEqual([]);
  });
});
