import { describe, expect, it } from 'vitest';
import { admissionregistration, apps, autoscalingV2, core } from '#api';
import { configMap, serveAdmission } from '../admission-server.test-data.ts';

const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] }];

type Spec = NonNullable<admissionregistration.ValidatingAdmissionPolicy['spec']>;
type MutatingSpec = NonNullable<admissionregistration.MutatingAdmissionPolicy['spec']>;
type BindingSpec = NonNullable<admissionregistration.ValidatingAdmissionPolicyBinding['spec']>;

async function withPolicy(spec: Partial<Spec>, binding: Partial<BindingSpec> = {}) {
  const served = await serveAdmission();
  const { client } = served;
  const matchConstraints = { resourceRules: RULES };
  await client.of(admissionregistration.ValidatingAdmissionPolicy).create({ metadata: { name: 'p' }, spec: { matchConstraints, ...spec } });
  await client
    .of(admissionregistration.ValidatingAdmissionPolicyBinding)
    .create({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], ...binding } });
  return { ...served, maps: client.of(core.ConfigMap) };
}

async function withMutation(spec: Partial<MutatingSpec>) {
  const served = await serveAdmission();
  const { client } = served;
  const resourceRules = [{ ...RULES[0]!, operations: ['CREATE', 'UPDATE'] }];
  await client
    .of(admissionregistration.MutatingAdmissionPolicy)
    .create({ metadata: { name: 'p' }, spec: { matchConstraints: { resourceRules }, reinvocationPolicy: 'Never', ...spec } });
  await client.of(admissionregistration.MutatingAdmissionPolicyBinding).create({ metadata: { name: 'b' }, spec: { policyName: 'p' } });
  return { ...served, maps: client.of(core.ConfigMap) };
}

const configuration = (expression: string) => [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }];
const patch = (expression: string) => [{ patchType: 'JSONPatch', jsonPatch: { expression } }];

describe('a validating policy', () => {
  it('rejects an object whose expression is false, with its message', async () => {
    const { maps } = await withPolicy({
      validations: [{ expression: "object.data.n != '5'", messageExpression: "'not ' + object.data.n" }],
    });
    await expect(maps.create(configMap('a', { n: '5' }))).rejects.toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not 5`,
    });
    await expect(maps.create(configMap('a', { n: '4' }))).resolves.toMatchObject({ data: { n: '4' } });
  });

  it('holds from the moment it is written until it is deleted, each of its versions in turn', async () => {
    const { client, maps } = await withPolicy({ validations: [{ expression: 'false', message: 'first' }] });
    const policies = client.of(admissionregistration.ValidatingAdmissionPolicy);
    await expect(maps.create(configMap('a'))).rejects.toThrow('denied request: first');
    await policies.patch({ name: 'p' }, { spec: { validations: [{ expression: 'false', message: 'second' }] } });
    await expect(maps.create(configMap('a'))).rejects.toThrow('denied request: second');
    await policies.delete({ name: 'p' });
    await expect(maps.create(configMap('a'))).resolves.toBeDefined();
  });

  it.each([
    ['the old object on delete', "request.operation != 'DELETE' || oldObject.metadata.name != 'keep'"],
    ['the namespace', "request.operation != 'DELETE' || namespaceObject.metadata.labels['team'] != 'a'"],
    ['who asks', "request.operation != 'DELETE' || !('devs' in request.userInfo.groups)"],
    [
      'rights, also those that take time to decide',
      "request.operation != 'DELETE' || authorizer.group('').resource('secrets').check('get').allowed()",
    ],
    ['variables', "request.operation != 'DELETE' || !variables.isDelete"],
  ])('knows %s', async (_, expression) => {
    const variables = [{ name: 'isDelete', expression: "request.operation == 'DELETE'" }];
    const { maps } = await withPolicy({ variables, validations: [{ expression }] });
    const { metadata } = await maps.create(configMap('keep'));
    await expect(maps.delete(metadata)).rejects.toThrow('failed expression:');
  });

  it('handles errors of expressions by its failurePolicy', async () => {
    const validations = [{ expression: "object.data.nope == 'x'" }];
    const failing = await withPolicy({ validations });
    await expect(failing.maps.create(configMap('a', { n: '1' }))).rejects.toThrow('resulted in error: no such key: nope');
    const ignoring = await withPolicy({ validations, failurePolicy: 'Ignore' });
    await expect(ignoring.maps.create(configMap('a', { n: '1' }))).resolves.toBeDefined();
  });

  it('stops at its budget', async () => {
    const dear = 'lists.range(1000).all(a, lists.range(800).all(b, a + b >= 0))';
    const { maps } = await withPolicy({ validations: Array.from({ length: 12 }, () => ({ expression: dear })) });
    await expect(maps.create(configMap('a'))).rejects.toThrow(/cost/);
  });

  it('sees objects in the version that its rules name, whatever version they come in', async () => {
    const resourceRules = [
      { apiGroups: ['autoscaling'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['horizontalpodautoscalers'] },
    ];
    const validations = [
      { expression: 'object.spec.targetCPUUtilizationPercentage < 50', messageExpression: "'seen as ' + object.apiVersion" },
    ];
    const { client } = await withPolicy({ matchConstraints: { resourceRules }, validations });
    const scaler = (averageUtilization: number) => ({
      metadata: { name: 'h', namespace: 'default' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
      },
    });
    const scalers = client.of(autoscalingV2.HorizontalPodAutoscaler);
    await expect(scalers.create(scaler(80))).rejects.toThrow('denied request: seen as autoscaling/v1');
    await expect(scalers.create(scaler(20))).resolves.toBeDefined();
  });

  it('is evaluated once per parameter, and fails without any if parameterNotFoundAction is Deny', async () => {
    const { client, maps } = await withPolicy(
      {
        paramKind: { apiVersion: 'v1', kind: 'PodTemplate' },
        validations: [
          { expression: 'object.data.n != params.metadata.name', messageExpression: "params.kind + ' ' + params.metadata.name" },
        ],
      },
      { paramRef: { selector: { matchLabels: { param: 'yes' } }, parameterNotFoundAction: 'Deny' } },
    );
    await expect(maps.create(configMap('a', { n: 'y' }))).rejects.toThrow(
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
    const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };
    for (const name of ['x', 'y'])
      await client.of(core.PodTemplate).create({ metadata: { name, namespace: 'default', labels: { param: 'yes' } }, template });
    await expect(maps.create(configMap('a', { n: 'y' }))).rejects.toThrow('denied request: PodTemplate y');
    await expect(maps.create(configMap('a', { n: 'z' }))).resolves.toBeDefined();
  });

  it('leaves alone what its binding, its selectors or its exclusions leave out', async () => {
    const validations = [{ expression: 'false' }];
    const objectSelector = { matchLabels: { bound: 'yes' } };
    const bound = await withPolicy({ validations }, { matchResources: { objectSelector } });
    await expect(bound.maps.create(configMap('a'))).resolves.toBeDefined();
    await expect(bound.maps.create(configMap('b', {}, { bound: 'yes' }))).rejects.toThrow('failed expression: false');
    const namespaceSelector = { matchLabels: { team: 'b' } };
    const otherNamespace = await withPolicy({ validations, matchConstraints: { resourceRules: RULES, namespaceSelector } });
    await expect(otherNamespace.maps.create(configMap('a'))).resolves.toBeDefined();
    const excluding = await withPolicy({ validations, matchConstraints: { resourceRules: RULES, excludeResourceRules: RULES } });
    await expect(excluding.maps.create(configMap('a'))).resolves.toBeDefined();
  });

  it('does not apply to admission policies themselves', async () => {
    const allRules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }];
    const { client, maps } = await withPolicy({ matchConstraints: { resourceRules: allRules }, validations: [{ expression: 'false' }] });
    await expect(maps.create(configMap('a'))).rejects.toThrow('denied request');
    await client.of(admissionregistration.ValidatingAdmissionPolicyBinding).delete({ name: 'b' });
    await expect(maps.create(configMap('a'))).resolves.toBeDefined();
  });
});

describe('a mutating policy', () => {
  it('merges a configuration into the object, and owns nothing of it', async () => {
    const mutations = configuration("Object{metadata: Object.metadata{labels: {'added': object.metadata.name}}}");
    const { maps } = await withMutation({ mutations });
    const created = await maps.create(configMap('a', { n: '1' }, { own: 'yes' }));
    expect(created.metadata.labels).toEqual({ own: 'yes', added: 'a' });
    expect(JSON.stringify(created.metadata.managedFields)).not.toContain('added');
  });

  it.each([
    ['a configuration', configuration("Object{metadata: Object.metadata{labels: {'added': 'a'}}}")],
    ['a patch', patch("[JSONPatch{op: 'add', path: '/data', value: {'m': '2'}}]")],
  ])('leaves it to validation that an object changed by %s lacks a name', async (_, mutations) => {
    const { maps } = await withMutation({ mutations });
    const message = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required';
    await expect(maps.create({ metadata: { namespace: 'default' } } as never)).rejects.toMatchObject({ code: 422, message });
  });

  it('patches the object, and leaves it alone when a test in the patch fails', async () => {
    const mutations = patch("[JSONPatch{op: 'test', path: '/data/n', value: '1'}, JSONPatch{op: 'add', path: '/data/m', value: '2'}]");
    const { maps } = await withMutation({ mutations });
    expect((await maps.create(configMap('a', { n: '1' }))).data).toEqual({ n: '1', m: '2' });
    expect((await maps.create(configMap('b', { n: '2' }))).data).toEqual({ n: '2' });
  });

  it.each([
    [
      'a configuration that would replace a list as a whole',
      configuration('Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: []}}}}'),
      'may not mutate atomic arrays, maps or structs: .spec.template.spec.tolerations',
    ],
    ['a field that there is not', configuration('Object{nope: 1}'), '.nope: field not declared in schema'],
    [
      'a type name that does not follow its field',
      configuration('Object{metadata: Object.spec{}}'),
      'type mismatch: unexpected type name "Object.spec"',
    ],
    ['a patch of a place that there is not', patch("[JSONPatch{op: 'remove', path: '/data/nope'}]"), 'JSON Patch: '],
  ])('refuses %s', async (_, mutations, text) => {
    const resourceRules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }];
    const { client } = await withMutation({ mutations, matchConstraints: { resourceRules } });
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = { metadata: { name: 'd', namespace: 'default' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const creating = client.of(apps.Deployment).create(deployment);
    await expect(creating).rejects.toMatchObject({ code: 403, reason: 'Invalid', message: expect.stringContaining(text) });
    await expect(creating).rejects.toThrow(/^policy 'p' with binding 'b' denied request: /);
  });

  it('is reinvoked after later changes with reinvocationPolicy IfNeeded', async () => {
    const counting = configuration("Object{data: {'runs': has(object.data.runs) ? object.data.runs + '+' : '1'}}");
    const { client, maps } = await withMutation({ reinvocationPolicy: 'IfNeeded', mutations: counting });
    await client.of(admissionregistration.MutatingAdmissionPolicy).create({
      metadata: { name: 'q' },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules: [{ ...RULES[0]!, operations: ['CREATE'] }] },
        mutations: configuration("Object{data: {'late': has(object.data.late) ? 'twice' : 'once'}}"),
      },
    });
    await client.of(admissionregistration.MutatingAdmissionPolicyBinding).create({ metadata: { name: 'c' }, spec: { policyName: 'q' } });
    expect((await maps.create(configMap('a', { x: 'y' }))).data).toEqual({ x: 'y', runs: '1+', late: 'once' });
  });
});
