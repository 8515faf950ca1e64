import { describe, expect, test } from 'vitest';
import { realClock, VirtualClock } from '#base';
import type { JsonObject, JsonValue } from '#machinery';
import type { RawResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { OpenApi, openapiHandler } from './index.ts';
import { at, openapi, parse, Source, serverVersion, v2, widget } from './openapi.test-data.ts';

test('the v2 document that is built in turns is the same, byte for byte', async () => {
  const fresh = new OpenApi(new Source(), { serverVersion });
  const prepared = await fresh.prepareV2(realClock);
  expect(prepared.body.equals(openapi.documentV2().body)).toBe(true);
  expect(parse(prepared.body)).toEqual(v2);
});
const index = parse((await openapi.indexV3(realClock)).body).paths as Record<string, { serverRelativeURL: string }>;
const v3 = new Map(Object.keys(index).map((key) => [key, parse(openapi.documentV3(key)!.body)]));

function collect(value: JsonValue, name: string, values: string[] = []): string[] {
  if (value === null || typeof value !== 'object') return values;
  for (const [key, member] of Object.entries(value)) {
    if (key === name && typeof member === 'string') values.push(member);
    else collect(member as JsonValue, name, values);
  }
  return values;
}

describe('every document', () => {
  const documents = [['v2', v2] as const, ...v3];
  test.each(documents)('%s defines what it refers to', (_, document) => {
    const refs = [...new Set(collect(document, '$ref'))];
    const missing = refs.filter((ref) => at(document, ...ref.slice(2).split('/')) === undefined);
    expect(missing).toEqual([]);
  });

  test.each(documents)('%s names every operation once', (_, document) => {
    const ids = collect(document.paths!, 'operationId');
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    expect(ids.length).toBeGreaterThan(0);
  });
});

describe('definitions', () => {
  const schemas = at(v3.get('api/v1')!, 'components', 'schemas') as Record<string, JsonObject>;
  const container = schemas['io.k8s.api.core.v1.Container']!.properties as Record<string, JsonObject>;

  const property = (document: string, type: string, name: string) =>
    at(v3.get(document)!, 'components', 'schemas', type, 'properties', name);

  test('refer to types plainly where a field has no description', () => {
    const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
    const not = property('apis/apiextensions.k8s.io/v1', `${apiextensions}.JSONSchemaProps`, 'not');
    expect(not).toEqual({ $ref: `#/components/schemas/${apiextensions}.JSONSchemaProps` });
    const http = property('apis/networking.k8s.io/v1', 'io.k8s.api.networking.v1.IngressRule', 'http');
    expect(http).toEqual({ $ref: '#/components/schemas/io.k8s.api.networking.v1.HTTPIngressRuleValue' });
  });

  test('publish bytes as a list where upstream does', () => {
    const spec = 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec';
    expect(property('apis/apiregistration.k8s.io/v1', spec, 'caBundle')).toMatchObject({
      format: 'byte',
      'x-kubernetes-list-type': 'atomic',
    });
  });

  test('are kinds also where another group embeds them', () => {
    const claim = at(v3.get('apis/apps/v1')!, 'components', 'schemas', 'io.k8s.api.core.v1.PersistentVolumeClaim');
    expect(claim).toMatchObject({ 'x-kubernetes-group-version-kind': [{ group: '', kind: 'PersistentVolumeClaim', version: 'v1' }] });
  });

  test('carry the metadata of patches and apply', () => {
    expect(container.ports).toMatchObject({
      type: 'array',
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }], default: {} },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector']).toMatchObject({ 'x-kubernetes-map-type': 'atomic' });
    const spec = schemas['io.k8s.api.core.v1.PodSpec']!.properties as Record<string, JsonObject>;
    expect(spec.volumes!['x-kubernetes-patch-strategy']).toBe('merge,retainKeys');
    const claimRef = at(schemas['io.k8s.api.core.v1.PersistentVolumeSpec']!, 'properties', 'claimRef');
    expect(claimRef).toMatchObject({ 'x-kubernetes-map-type': 'granular' });
  });

  test('list the values of types that upstream lists', () => {
    const values = (schema: string, property: string, ...more: string[]) => at(schemas[schema]!, 'properties', property, ...more, 'enum');
    expect(values('io.k8s.api.core.v1.Container', 'imagePullPolicy')).toEqual(['Always', 'IfNotPresent', 'Never']);
    expect(values('io.k8s.api.core.v1.PersistentVolumeClaimSpec', 'accessModes', 'items')).toContain('ReadWriteOncePod');
    const statuses = ['properties', 'allocatedResourceStatuses', 'additionalProperties', 'enum'];
    expect(at(v2, 'definitions', 'io.k8s.api.core.v1.PersistentVolumeClaimStatus', ...statuses)).toContain('NodeResizePending');
    expect(at(schemas['io.k8s.api.core.v1.NodeAddress']!, 'properties', 'type')).not.toHaveProperty('enum');
  });

  test('say what is required, and the defaults', () => {
    expect(schemas['io.k8s.api.core.v1.PodSpec']!.required).toEqual(['containers']);
    expect(at(schemas['io.k8s.api.core.v1.ContainerPort']!, 'properties', 'protocol')).toMatchObject({ type: 'string', default: 'TCP' });
    expect(at(v2, 'definitions', 'io.k8s.api.core.v1.ContainerPort', 'properties', 'protocol')).not.toHaveProperty('default');
  });

  test.each([
    [2, { type: 'string', format: 'int-or-string' }],
    [3, { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' }],
  ])('write int-or-string as version %i does', (version, expected) => {
    const name = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
    expect(version === 2 ? at(v2, 'definitions', name) : schemas[name]).toMatchObject(expected);
  });

  test('name the kinds, also of lists and options', () => {
    const extension = 'x-kubernetes-group-version-kind';
    expect(schemas['io.k8s.api.core.v1.PodList']![extension]).toEqual([{ group: '', kind: 'PodList', version: 'v1' }]);
    expect(schemas['io.k8s.api.policy.v1.Eviction']![extension]).toEqual([{ group: 'policy', kind: 'Eviction', version: 'v1' }]);
    const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
    const core = { group: '', kind: 'DeleteOptions', version: 'v1' };
    expect(schemas[name]![extension]).toEqual([core]);
    const all = at(v2, 'definitions', name, extension) as readonly unknown[];
    expect(all[0]).toEqual(core);
    // Versions count that are decoded, though they are no longer served.
    for (const version of ['v1', 'v1beta2']) expect(all).toContainEqual({ group: 'apps', kind: 'DeleteOptions', version });
  });

  test('tell of lists how they are merged, but not of objects in a list', () => {
    const listType = 'x-kubernetes-list-type';
    expect(at(schemas['io.k8s.api.core.v1.PodSpec']!, 'properties', 'containers')).toHaveProperty([listType], 'map');
    expect(at(schemas['io.k8s.api.core.v1.Container']!, 'properties', 'args')).toHaveProperty([listType], 'atomic');
    expect(at(schemas['io.k8s.api.core.v1.PodList']!, 'properties', 'items')).not.toHaveProperty([listType]);
  });

  test('tell which fields exclude each other', () => {
    expect(schemas['io.k8s.api.core.v1.SeccompProfile']!['x-kubernetes-unions']).toEqual([
      { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
    ]);
  });
});

describe('paths', () => {
  test('say once what all their operations take, in order', () => {
    const names = (value: unknown) => (value as readonly { readonly name: string }[]).map(({ name }) => name);
    const paths = v3.get('api/v1')!.paths as unknown as Record<string, Record<string, object>>;
    const all = paths['/api/v1/namespaces/{namespace}/pods']!;
    expect(names(all.parameters)).toEqual(['namespace', 'pretty']);
    expect(names(at(all as never, 'post', 'parameters'))).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
    const alone = paths['/api/v1/namespaces/{namespace}/pods/{name}/eviction']!;
    expect(names(alone.parameters)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'name', 'namespace', 'pretty']);
    expect(alone.post).not.toHaveProperty('parameters');
  });

  const pods = '/api/v1/namespaces/{namespace}/pods';
  test.each([
    [pods, 'get', 'listCoreV1NamespacedPod', 'list'],
    [pods, 'post', 'createCoreV1NamespacedPod', 'post'],
    [pods, 'delete', 'deleteCoreV1CollectionNamespacedPod', 'deletecollection'],
    ['/api/v1/pods', 'get', 'listCoreV1PodForAllNamespaces', 'list'],
    [`${pods}/{name}`, 'get', 'readCoreV1NamespacedPod', 'get'],
    [`${pods}/{name}`, 'put', 'replaceCoreV1NamespacedPod', 'put'],
    [`${pods}/{name}/status`, 'patch', 'patchCoreV1NamespacedPodStatus', 'patch'],
    [`${pods}/{name}/log`, 'get', 'readCoreV1NamespacedPodLog', 'get'],
    [`${pods}/{name}/exec`, 'post', 'connectCoreV1PostNamespacedPodExec', 'connect'],
    [`${pods}/{name}/proxy/{path}`, 'head', 'connectCoreV1HeadNamespacedPodProxyWithPath', 'connect'],
    [`${pods}/{name}/eviction`, 'post', 'createCoreV1NamespacedPodEviction', 'post'],
    ['/api/v1/nodes', 'get', 'listCoreV1Node', 'list'],
    ['/api/v1/watch/pods', 'get', 'watchCoreV1PodListForAllNamespaces', 'watchlist'],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}', 'delete', 'deleteRbacAuthorizationV1ClusterRole', 'delete'],
    ['/apis/apps/v1/', 'get', 'getAppsV1APIResources', undefined],
  ])('%s %s is %s', (path, method, id, action) => {
    const operation = at(v2, 'paths', path, method) as JsonObject;
    expect(operation.operationId).toBe(id);
    expect(operation['x-kubernetes-action']).toBe(action);
  });

  test('say which kind they speak', () => {
    const scale = at(v2, 'paths', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale', 'put') as JsonObject;
    expect(scale['x-kubernetes-group-version-kind']).toEqual({ group: 'autoscaling', kind: 'Scale', version: 'v1' });
  });

  test('have the parameters by which clients know what a server can do', () => {
    const patch = at(v3.get('api/v1')!, 'paths', `${pods}/{name}`, 'patch', 'parameters') as JsonObject[];
    expect(patch.map(({ name }) => name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  });
});

test('the event loop runs other work while the index of OpenAPI documents is built', async () => {
  const fresh = new OpenApi(new Source(), { serverVersion });
  const other = realClock.sleep(1).then(() => 'other work');
  const index = fresh.indexV3(realClock).then(() => 'the index');
  expect(await Promise.race([other, index])).toBe('other work');
  await index;
});

describe('custom resources', async () => {
  const source = new Source();
  const changing = new OpenApi(source, { serverVersion });
  const before = { index: await changing.indexV3(realClock), core: changing.documentV3('api/v1') };
  source.add(widget);
  const name = 'com.example.stable.v1.Widget';

  test('appear when they are added, and leave other documents alone', async () => {
    expect(parse(before.index.body).paths).not.toHaveProperty('apis/stable.example.com/v1');
    expect(Object.keys(parse((await changing.indexV3(realClock)).body).paths as JsonObject)).toContain('apis/stable.example.com/v1');
    expect(changing.documentV3('api/v1')).toBe(before.core);
  });

  test('are published in version 3 as they were defined, with what their extensions imply', () => {
    const document = parse(changing.documentV3('apis/stable.example.com/v1')!.body);
    const { port, limit, child, ...rest } = at(document, 'components', 'schemas', name, 'properties', 'spec', 'properties') as JsonObject;
    expect(at(widget.openAPIV3Schema!, 'properties', 'spec', 'properties')).toMatchObject(rest);
    const intOrString = [{ type: 'integer' }, { type: 'string' }];
    expect(port).toEqual({ 'x-kubernetes-int-or-string': true, anyOf: intOrString });
    expect(limit).toEqual({ 'x-kubernetes-int-or-string': true, anyOf: [{ minimum: 1 }], allOf: [{ anyOf: intOrString }] });
    expect(child).toMatchObject({ required: ['kind', 'apiVersion'], properties: { kind: {}, apiVersion: {}, metadata: {}, spec: {} } });
    expect(at(document, 'components', 'schemas', name, 'x-kubernetes-selectable-fields')).toEqual([{ fieldPath: 'spec.note' }]);
    expect(at(document, 'components', 'schemas', `${name}List`, 'properties', 'items', 'items')).toEqual({
      $ref: `#/components/schemas/${name}`,
    });
    const ids = collect(document.paths!, 'operationId');
    expect(ids).toContain('createStableExampleComV1NamespacedWidget');
  });

  test('are sent as JSON or YAML, patched without creation, and deleted as a collection without a body', () => {
    const path = '/apis/stable.example.com/v1/namespaces/{namespace}/widgets';
    const v3 = parse(changing.documentV3('apis/stable.example.com/v1')!.body).paths as JsonObject;
    const types = ['application/json', 'application/yaml'];
    for (const [of, method] of [
      [path, 'post'],
      [`${path}/{name}`, 'put'],
      [`${path}/{name}`, 'delete'],
    ] as const) {
      expect(Object.keys(at(v3, of, method, 'requestBody', 'content') as JsonObject)).toEqual(types);
    }
    expect(Object.keys(at(v3, `${path}/{name}`, 'patch', 'responses') as JsonObject)).toEqual(['200', '401']);
    expect(at(v3, path, 'delete')).not.toHaveProperty('requestBody');
    const v2 = parse(changing.documentV2().body).paths as JsonObject;
    expect(at(v2, path, 'get', 'consumes')).toEqual(types);
  });

  test('leave discovery documents their own media types', () => {
    const v2 = parse(changing.documentV2().body).paths as JsonObject;
    expect(at(v2, '/version/', 'get', 'consumes')).toEqual(['application/json']);
    expect(at(v2, '/apis/', 'get', 'consumes')).toContain('application/vnd.kubernetes.protobuf');
    expect(at(v2, '/openid/v1/jwks/', 'get')).not.toHaveProperty('consumes');
  });

  test('are loosened in version 2 where it cannot say the same', () => {
    const definition = at(parse(changing.documentV2().body), 'definitions', name) as JsonObject;
    expect(at(definition, 'properties', 'spec', 'required')).toEqual(['size']);
    expect(at(definition, 'properties', 'spec', 'properties')).toEqual({
      size: { type: 'integer', default: 1, minimum: 0 },
      port: { 'x-kubernetes-int-or-string': true },
      note: {},
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      limit: { 'x-kubernetes-int-or-string': true },
      notes: {},
      child: expect.objectContaining({ type: 'object', required: ['kind', 'apiVersion'] }),
    });
    expect(definition['x-kubernetes-group-version-kind']).toEqual([{ group: 'stable.example.com', kind: 'Widget', version: 'v1' }]);
  });
});

describe('requests', () => {
  const handle = openapiHandler(openapi, new VirtualClock());
  const ask = (path: string, headers: Record<string, string> = {}): RawResponse => {
    const url = new URL(path, 'https://server');
    const request = { method: 'GET', path: url.pathname, query: url.searchParams, header: (name: string) => headers[name] };
    return handle(request as unknown as ApiRequest) as RawResponse;
  };

  test('for version 2 are answered in JSON, or in protobuf', async () => {
    expect((await ask('/openapi/v2')).contentType).toBe('application/json');
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    expect((await ask('/openapi/v2', { accept })).contentType).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    expect(await ask('/openapi/v2', { accept: 'text/html' })).toMatchObject({ code: 406, body: '' });
  });

  test('for a document of version 3 too; the etag is the same', async () => {
    const json = ask('/openapi/v3/api/v1');
    const protobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
    for (const accept of ['application/com.github.proto-openapi.spec.v3@v1.0+protobuf', `text/html, ${protobuf}`]) {
      expect(ask('/openapi/v3/api/v1', { accept })).toMatchObject({
        code: 200,
        contentType: protobuf,
        headers: { etag: json.headers!.etag },
      });
    }
    expect(ask('/openapi/v3/api/v1', { accept: 'text/html' }).code).toBe(406);
    expect((await ask('/openapi/v3', { accept: 'text/html' })).code).toBe(200);
  });

  test('for a document follow its address; an old address leads to the new one', () => {
    const url = index['apis/apps/v1']!.serverRelativeURL;
    const expires = new Date(new VirtualClock().now() + 365 * 86_400_000).toUTCString().replace('GMT', 'UTC');
    expect(ask(url)).toMatchObject({ code: 200, headers: { 'cache-control': 'public, immutable', expires } });
    expect(ask('/openapi/v3/apis/apps/v1?hash=stale')).toMatchObject({ code: 301, headers: { location: url } });
    expect(ask('/openapi/v3/apis/nonesuch/v1').code).toBe(404);
  });

  test('with a matching ETag are 304', () => {
    const { headers } = ask('/openapi/v3/api/v1');
    expect(ask('/openapi/v3/api/v1', { 'if-none-match': headers!.etag! })).toMatchObject({ code: 304, body: '' });
  });
});
