import { core, KINDS, type Kind } from '#api';
import type { JsonObject, JsonValue } from '#machinery';
import { OpenApi, type OpenApiResource } from './index.ts';

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const OBJECT = ['get', 'patch', 'update'];

function resource(kind: Kind<unknown>): OpenApiResource {
  const { group, version, resource, namespaced } = kind;
  const own = { group, version, kind: kind.kind };
  const subresources = new Map([['status', { name: 'status', kind: own, verbs: OBJECT }]]);
  if (kind.kind === 'Deployment') {
    subresources.set('scale', { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: OBJECT });
  }
  if (kind === core.Pod) {
    subresources.set('log', { name: 'log', kind: own, verbs: ['get'] });
    subresources.set('exec', { name: 'exec', kind: { ...own, kind: 'PodExecOptions' }, verbs: ['create', 'get'] });
    subresources.set('proxy', { name: 'proxy', kind: { ...own, kind: 'PodProxyOptions' }, verbs: ['create', 'get'] });
    subresources.set('eviction', { name: 'eviction', kind: { group: 'policy', version: 'v1', kind: 'Eviction' }, verbs: ['create'] });
  }
  return { ...own, resource, namespaced, verbs: ALL, listKind: `${kind.kind}List`, schema: kind, custom: false, subresources };
}

export const widget: OpenApiResource = {
  group: 'stable.example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
  verbs: ALL,
  listKind: 'WidgetList',
  schema: core.ConfigMap,
  custom: true,
  strategy: { selectableFields: { 'spec.note': () => '' } },
  openAPIV3Schema: {
    type: 'object',
    description: 'A widget.',
    properties: {
      spec: {
        type: 'object',
        required: ['size', 'note'],
        properties: {
          size: { type: 'integer', default: 1, minimum: 0 },
          port: { 'x-kubernetes-int-or-string': true },
          note: { type: 'string', nullable: true },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
          limit: { 'x-kubernetes-int-or-string': true, anyOf: [{ minimum: 1 }] },
          notes: { type: 'array', items: { type: 'string' }, nullable: true },
          child: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
        },
      },
    },
  },
  subresources: new Map(),
};

export class Source {
  generation = 1;
  resources: OpenApiResource[] = (KINDS as readonly Kind<unknown>[]).map(resource);

  all(): Iterable<OpenApiResource> {
    return this.resources;
  }

  add(added: OpenApiResource): void {
    this.resources = [...this.resources, added];
    this.generation++;
  }
}

export const serverVersion = 'v1.36.0';
export const openapi = new OpenApi(new Source(), { serverVersion });
export const parse = (body: Buffer): JsonObject => JSON.parse(body.toString());
export const v2 = parse(openapi.documentV2().body);

/** The member of a document at this path. */
export function at(document: JsonObject, ...path: string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((value, key) => (value as JsonObject | undefined)?.[key], document);
}
