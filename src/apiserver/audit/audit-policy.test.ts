import { describe, expect, it, test } from 'vitest';
import { parseRequestInfo } from '../request/request-info.ts';
import { parseAuditPolicy } from './audit-policy.ts';
import { PolicyEvaluator } from './policy-evaluator.ts';

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const policy = (text: string) => parseAuditPolicy(HEAD + text, 'policy.yaml');

describe('a bad policy file', () => {
  test.each([
    ['no rules', HEAD, 'loaded illegal policy with 0 rules: from file policy.yaml'],
    ['another kind', 'apiVersion: v1\nkind: Pod', 'no kind "Pod" is registered for version "v1"'],
    ['an old version', 'apiVersion: audit.k8s.io/v1beta1\nkind: Policy', 'is registered for version "audit.k8s.io/v1beta1"'],
    ['no kind', 'rules: []', "Object 'Kind' is missing"],
    ['no YAML', 'a: b: c', 'failed decoding: '],
    ['a rule that is no object', `${HEAD}rules: [1]`, 'rules[0]: must be an object'],
    ['a rule without a level', `${HEAD}rules: [{}]`, 'rules[0].level: Required value'],
    [
      'an unknown level',
      `${HEAD}rules: [{level: All}]`,
      'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
    ],
    [
      'an unknown stage',
      `${HEAD}rules: [{level: None}]\nomitStages: [Later]`,
      'omitStages[0]: Invalid value: "Later": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
    ],
    [
      'a relative path',
      `${HEAD}rules: [{level: None, nonResourceURLs: [healthz]}]`,
      `rules[0].nonResourceURLs[0]: Invalid value: "healthz": non-resource URL rules must begin with a '/' character`,
    ],
    [
      'a wildcard within a path',
      `${HEAD}rules: [{level: None, nonResourceURLs: ["/a*/b"]}]`,
      "non-resource URL wildcards '*' must be the final character of the rule",
    ],
    [
      'paths and resources in one rule',
      `${HEAD}rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]`,
      'rules cannot apply to both regular resources and non-resource URLs',
    ],
    [
      'a group with its version',
      `${HEAD}rules: [{level: None, resources: [{group: apps/v1}]}]`,
      'rules[0].resources.group: Invalid value: "apps/v1"',
    ],
    [
      'names without resources',
      `${HEAD}rules: [{level: None, resources: [{group: apps, resourceNames: [a]}]}]`,
      'using resourceNames requires at least one resource',
    ],
  ])('is refused: %s', (_, text, message) => {
    expect(() => parseAuditPolicy(text, 'policy.yaml')).toThrow(message);
  });
});

it('an audit policy with unknown fields is read without them, and reports them', () => {
  expect(policy('rules: [{level: None, colour: red}]\nsize: 1').unknownFields).toEqual(['size', 'rules[0].colour']);
});

describe('the first rule that matches decides', () => {
  const evaluator = new PolicyEvaluator(
    policy(`
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- { level: None, users: ['system:kube-proxy'], verbs: [watch] }
- { level: Request, userGroups: [devs], namespaces: [team], omitManagedFields: false, omitStages: [Panic] }
- { level: RequestResponse, resources: [{ group: '', resources: [secrets], resourceNames: [one] }] }
- { level: Metadata, resources: [{ group: '', resources: ['*/status', 'pods/*'] }, { group: apps }] }
- { level: Request, resources: [{ group: '*', resources: [leases] }] }
- { level: Metadata, nonResourceURLs: ['/healthz*', /version] }
`),
  );
  const level = (method: string, path: string, user = { name: 'jane', groups: ['users'] as readonly string[] }, watch = false) =>
    evaluator.evaluate({ user, info: parseRequestInfo({ method, path, watch }) });

  test.each([
    ['GET', '/api/v1/secrets', 'None'],
    ['GET', '/api/v1/namespaces/a/secrets/one', 'RequestResponse'],
    ['GET', '/api/v1/namespaces/a/secrets/two', 'None'],
    ['PUT', '/api/v1/nodes/a/status', 'Metadata'],
    ['PUT', '/api/v1/nodes/a', 'None'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'Metadata'],
    ['GET', '/api/v1/namespaces/a/pods/b', 'Metadata'],
    ['GET', '/apis/apps/v1/deployments', 'Metadata'],
    ['GET', '/apis/coordination.k8s.io/v1/leases', 'Request'],
    ['GET', '/healthz/etcd', 'Metadata'],
    ['GET', '/version', 'Metadata'],
    ['GET', '/versions', 'None'],
  ])('%s %s: %s', (method, path, expected) => {
    expect(level(method, path).level).toBe(expected);
  });

  it('by user, with its omitted stages and fields', () => {
    expect(level('GET', '/api/v1/pods', { name: 'system:kube-proxy', groups: [] }, true).level).toBe('None');
    const config = level('GET', '/api/v1/namespaces/team/configmaps', { name: 'jane', groups: ['devs'] });
    expect(config).toEqual({ level: 'Request', omitStages: new Set(['RequestReceived', 'Panic']), omitManagedFields: false });
    expect(level('GET', '/version').omitManagedFields).toBe(true);
  });

  it('and rules for users do not match unauthenticated requests', () => {
    const info = parseRequestInfo({ method: 'GET', path: '/api/v1/namespaces/team/configmaps', watch: false });
    expect(evaluator.evaluate({ info }).level).toBe('None');
  });
});
