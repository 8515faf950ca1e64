import { describe, expect, it } from 'vitest';
import { checkTypes } from './check-types.ts';

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
    ['has(object.spec.template.spec.containers[0].resources.limits.cpu)'],
    ['object.metadata.labels["a"] == "b" && object.metadata.?namespace.orValue("") == ""'],
  ])('are right in %s', (expression) => expect(checkTypes(policy(expression))).toEqual([]));

  it('are told where they are wrong', () => {
    expect(checkTypes(policy('object.spec.replicas > "1"'))).toEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning: expect.stringMatching(
          /^apps\/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:22: found no matching overload for '_>_'/,
        ),
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

  it('are not known behind wildcards', () => {
    expect(checkTypes(policy('object.spec.nope == 1', { apiGroups: ['*'] }))).toEqual([]);
    expect(checkTypes(policy('object.spec.nope == 1', { resources: ['*'] }))).toEqual([]);
  });
});
