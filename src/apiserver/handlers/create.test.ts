import { describe, expect, it } from 'vitest';
import { apiextensions, apps, autoscaling, core, events, networking } from '#api';
import { StatusError } from '#machinery';
import { configMap, serveAdmission } from '../admission/admission-server.test-data.ts';

const PLACE = { name: 'a', namespace: 'default' };
const EXISTS = 'configmaps "a" already exists';
const NOT_GENERATED = `${EXISTS}, the server was not able to generate a unique name for the object`;

async function refusal(of: Promise<unknown>): Promise<Pick<StatusError, 'code' | 'reason' | 'message'> & { retryAfterSeconds?: number }> {
  const error = await of.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StatusError)) throw new Error('it was not refused', { cause: error });
  const { code, reason, message, details } = error;
  return { code, reason, message, ...(details?.retryAfterSeconds && { retryAfterSeconds: details.retryAfterSeconds }) };
}

describe('an object whose name exists', () => {
  const alreadyExists = { code: 409, reason: 'AlreadyExists' };
  const named = configMap('a');
  const both = { ...named, metadata: { ...named.metadata, generateName: 'a-' } };

  it('is a conflict, with retryAfterSeconds if it has generateName', async () => {
    const maps = (await serveAdmission()).client.of(core.ConfigMap);
    await maps.create(named);
    expect(await refusal(maps.create(named))).toEqual({ ...alreadyExists, message: EXISTS });
    expect(await refusal(maps.create(named, { dryRun: true }))).toEqual({ ...alreadyExists, message: EXISTS });
    expect(await refusal(maps.create(both))).toEqual({ ...alreadyExists, message: NOT_GENERATED, retryAfterSeconds: 1 });
  });

  it('is a conflict that mentions a deletion in progress', async () => {
    const maps = (await serveAdmission()).client.of(core.ConfigMap);
    await maps.create({ ...named, metadata: { ...named.metadata, finalizers: ['example.com/hold'] } });
    await maps.delete(PLACE);
    expect(await refusal(maps.create(named))).toEqual({ ...alreadyExists, message: `object is being deleted: ${EXISTS}` });
    const message = `object is being deleted: ${NOT_GENERATED}`;
    expect(await refusal(maps.create(both))).toEqual({ ...alreadyExists, message, retryAfterSeconds: 1 });
  });
});

describe('a name to be generated', () => {
  it('is its base alone where names are addresses', async () => {
    const addresses = (await serveAdmission()).client.of(networking.IPAddress);
    const spec = { parentRef: { resource: 'services', name: 's' } };
    const address = await addresses.create({ metadata: { generateName: '192.0.2.9' }, spec });
    expect(address.metadata.name).toBe('192.0.2.9');
  });
});

describe('an object without a name', () => {
  it('gets a generated one if it is a LimitRange', async () => {
    const { client } = await serveAdmission();
    const range = await client.of(core.LimitRange).create({ metadata: { namespace: 'default' }, spec: { limits: [] } } as never);
    expect(range.metadata.name).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(range.metadata.name).not.toBe(range.metadata.uid);
    expect(await client.of(core.LimitRange).get({ namespace: 'default', name: range.metadata.name })).toEqual(range);
  });
});

describe('a deprecated annotation', () => {
  it('has a warning even if the pod is rejected', async () => {
    const { client } = await serveAdmission();
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
    const warnings: string[] = [];
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'nonsense' };
    const pod = { metadata: { name: 'a', namespace: 'default', annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const creation = client.of(core.Pod).create(pod as never, { onWarning: (text) => warnings.push(text) });
    await expect(creation).rejects.toThrow('invalid AppArmor profile name: "nonsense"');
    expect(warnings).toContain(
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead',
    );
  });
});

describe('a body of another kind', () => {
  const notRegistered = (kind: string, version: string) =>
    `no kind "${kind}" is registered for version "${version}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;

  it.each([
    ['v1', 'Secret', 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    ['v1', 'ConfigMapList', 'converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion'],
    ['apps/v1', 'DeploymentList', 'converting (v1.DeploymentList) to (core.ConfigMap): unknown conversion'],
    ['v1', 'List', 'converting (v1.List) to (core.ConfigMap): unknown conversion'],
    ['v1', 'Status', 'converting (v1.Status) to (core.ConfigMap): unknown conversion'],
    ['apps/v1', 'DeleteOptions', 'converting (v1.DeleteOptions) to (core.ConfigMap): unknown conversion'],
    ['v1', 'BindingList', notRegistered('BindingList', 'v1')],
    ['apps/v1', 'List', notRegistered('List', 'apps/v1')],
    ['apps/v1', 'PodList', notRegistered('PodList', 'apps/v1')],
    ['none/v1', 'DeleteOptions', notRegistered('DeleteOptions', 'none/v1')],
    ['extensions/v1', 'ConfigMap', notRegistered('ConfigMap', 'extensions/v1')],
  ])('%s %s is refused by what is known of it', async (apiVersion, kind, detail) => {
    const maps = (await serveAdmission()).client.of(core.ConfigMap);
    const sent = { ...configMap('a'), apiVersion, kind };
    const message = `${kind} in version "v1" cannot be handled as a ConfigMap: ${detail}`;
    expect(await refusal(maps.create(sent as never))).toEqual({ code: 400, reason: 'BadRequest', message });
  });
});

describe('a body of another version', () => {
  const { HorizontalPodAutoscaler } = autoscaling;
  const { CustomResourceDefinition } = apiextensions;
  const SENT = {
    HorizontalPodAutoscaler,
    Deployment: apps.Deployment,
    Event: events.Event,
    ConfigMap: core.ConfigMap,
    CustomResourceDefinition,
  };
  const differs = (apiVersion: string, expected: string) =>
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
  const unregistered = (kind: string, apiVersion: string, scheme: string) =>
    `${kind} in version "${apiVersion}" cannot be handled as a ${kind}: no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`;

  it.each([
    ['HorizontalPodAutoscaler', 'autoscaling/v2', differs('autoscaling/v2', 'autoscaling/v1')],
    ['Deployment', 'extensions/v1beta1', differs('extensions/v1beta1', 'apps/v1')],
    ['Deployment', 'apps/v1beta2', differs('apps/v1beta2', 'apps/v1')],
    ['Event', 'v1', differs('v1', 'events.k8s.io/v1')],
    ['ConfigMap', 'v2', unregistered('ConfigMap', 'v2', 'pkg/api/legacyscheme/scheme.go:30')],
    ['CustomResourceDefinition', 'v1', unregistered('CustomResourceDefinition', 'v1', 'pkg/apiserver/apiserver.go:55')],
  ] as const)('is rejected: %s of %s', async (kind, apiVersion, message) => {
    const { client } = await serveAdmission();
    const sent = { apiVersion, kind, metadata: PLACE };
    const creation = client.of(SENT[kind] as typeof core.ConfigMap).create(sent as never);
    expect(await refusal(creation)).toEqual({ code: 400, reason: 'BadRequest', message });
  });
});

describe('an object with a resource version', () => {
  const versioned = (resourceVersion: string) => ({ ...configMap('a'), metadata: { ...PLACE, resourceVersion } });

  it('is rejected unless the version is 0 or it is a dry run', async () => {
    const maps = (await serveAdmission()).client.of(core.ConfigMap);
    const refused = { code: 500, message: 'resourceVersion should not be set on objects to be created' };
    await expect(maps.create(versioned('5'))).rejects.toMatchObject(refused);
    await expect(maps.create(versioned('5'), { dryRun: true })).resolves.toMatchObject({ metadata: { name: 'a' } });
    await expect(maps.create(versioned('0'))).resolves.toMatchObject({ metadata: { name: 'a' } });
  });

  it('is told first what admission and validation have against it', async () => {
    const maps = (await serveAdmission()).client.of(core.ConfigMap);
    const elsewhere = { ...versioned('5'), metadata: { name: 'a', namespace: 'none', resourceVersion: '5' } };
    expect(await refusal(maps.create(elsewhere))).toMatchObject({ code: 404, message: 'namespaces "none" not found' });
    expect(await refusal(maps.create({ ...versioned('5'), data: { 'a b': '' } }))).toMatchObject({ code: 422, reason: 'Invalid' });
  });
});

describe('errors about labels of a template', () => {
  const deployment = (labels: object | undefined) => {
    const template = { metadata: { ...(labels && { labels }) }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    return { metadata: PLACE, spec: { selector: { matchLabels: { app: 'a' } }, template } };
  };
  const mismatch = (printed: string) =>
    `Deployment.apps "a" is invalid: spec.template.metadata.labels: Invalid value: ${printed}: \`selector\` does not match template \`labels\``;

  it.each([
    ['{} for an empty map', {}, '{}'],
    ['null for none', undefined, 'null'],
  ] as const)('print %s, on create and patch', async (_what, labels, printed) => {
    const deployments = (await serveAdmission()).client.of(apps.Deployment);
    expect(await refusal(deployments.create(deployment(labels) as never))).toMatchObject({ message: mismatch(printed) });
    await deployments.create(deployment({ app: 'a' }) as never);
    const patch = { spec: { template: { metadata: { labels: labels ? { app: null } : null } } } };
    expect(await refusal(deployments.patch(PLACE, patch))).toMatchObject({ message: mismatch(printed) });
  });
});
