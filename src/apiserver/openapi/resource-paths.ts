import { meta } from '#api';
import { definitionName, listDefinitionName, type OpenApiResource } from './openapi-resource.ts';
import type { Operation, OperationResponse, Parameter, PathModel } from './operation.ts';
import { type OperationIdParts, operationId, tagOf } from './operation-id.ts';
import {
  CREATE_PARAMETERS,
  DELETE_COLLECTION_PARAMETERS,
  DELETE_PARAMETERS,
  LIST_PARAMETERS,
  NAMESPACE,
  nameParameter,
  PATCH_PARAMETERS,
  PRETTY,
  UPDATE_PARAMETERS,
} from './parameters.ts';
import {
  basePath,
  bodyTypes,
  CUSTOM_OBJECT_TYPES,
  CUSTOM_PATCH_TYPES,
  LIST_TYPES,
  OBJECT_TYPES,
  PATCH_DEFINITION,
  PATCH_TYPES,
} from './path-parts.ts';
import { subresourcePaths } from './subresource-paths.ts';

/** The description of a verb. */
interface Verb {
  readonly action: string;
  readonly idVerb: string;
  readonly phrase: string;
  readonly parameters: readonly Parameter[];
  readonly body?: Operation['body'];
  readonly responses: readonly OperationResponse[];
  readonly isList?: boolean;
}

/** All paths of a resource: collection, object, subresources, and deprecated watch paths. */
export function resourcePaths(resource: OpenApiResource): readonly PathModel[] {
  const paths = new ResourcePaths(resource);
  return [...paths.main(), ...subresourcePaths(resource), ...paths.watches()].filter(
    ({ operations }) => Object.keys(operations).length > 0,
  );
}

class ResourcePaths {
  private readonly resource: OpenApiResource;
  private readonly type: string;
  private readonly base: string;
  private readonly scope: string;
  private readonly scopeParameters: readonly Parameter[];

  constructor(resource: OpenApiResource) {
    this.resource = resource;
    this.type = definitionName(resource);
    this.base = basePath(resource);
    this.scope = resource.namespaced ? '/namespaces/{namespace}' : '';
    this.scopeParameters = resource.namespaced ? [NAMESPACE] : [];
  }

  main(): readonly PathModel[] {
    const { resource, kind, namespaced } = this.resource;
    const collection = `${this.base}${this.scope}/${resource}`;
    const paths: PathModel[] = [
      { path: collection, parameters: [...this.scopeParameters, PRETTY], operations: this.collectionOperations() },
      {
        path: `${collection}/{name}`,
        parameters: [nameParameter(kind), ...this.scopeParameters, PRETTY],
        operations: this.objectOperations(),
      },
    ];
    const everywhere = {
      path: `${this.base}/${resource}`,
      parameters: [...LIST_PARAMETERS, PRETTY],
      operations: this.everywhereOperations(),
    };
    return namespaced ? [...paths, everywhere] : paths;
  }

  private collectionOperations(): PathModel['operations'] {
    return this.allowed({
      get: ['list', this.list()],
      post: ['create', this.create()],
      delete: ['deletecollection', this.deleteCollection()],
    });
  }

  private objectOperations(): PathModel['operations'] {
    return this.allowed({
      get: ['get', this.get()],
      put: ['update', this.update()],
      delete: ['delete', this.delete()],
      patch: ['patch', this.patch()],
    });
  }

  private everywhereOperations(): PathModel['operations'] {
    const operation = this.operation({ ...this.list(), parameters: [] }, { allNamespaces: true });
    return this.resource.verbs.includes('list') ? { get: operation } : {};
  }

  private allowed(verbs: Readonly<Record<string, readonly [string, Verb]>>): PathModel['operations'] {
    const served = Object.entries(verbs).filter(([, [name]]) => this.resource.verbs.includes(name));
    return Object.fromEntries(
      served.map(([method, [name, verb]]) => [method, this.operation(verb, name === 'deletecollection' ? { infix: 'Collection' } : {})]),
    );
  }

  private operation(verb: Verb, id: Partial<OperationIdParts>): Operation {
    const { resource } = this;
    return {
      id: operationId({ verb: verb.idVerb, resource, ...id }),
      description: `${verb.phrase} ${resource.kind}`,
      tag: tagOf(resource),
      parameters: verb.parameters,
      responses: verb.responses,
      produces: verb.isList && !resource.custom ? LIST_TYPES : resource.custom ? CUSTOM_OBJECT_TYPES : OBJECT_TYPES,
      consumes: bodyTypes(resource),
      action: verb.action,
      kind: resource,
      ...(verb.body && { body: verb.body }),
    };
  }

  private list(): Verb {
    const responses = [{ code: 200, type: listDefinitionName(this.resource) }];
    return {
      action: 'list',
      idVerb: 'list',
      phrase: 'list or watch objects of kind',
      parameters: LIST_PARAMETERS,
      responses,
      isList: true,
    };
  }

  private create(): Verb {
    const { type } = this;
    const responses = [200, 201, 202].map((code) => ({ code, type }));
    return { action: 'post', idVerb: 'create', phrase: 'create a', parameters: CREATE_PARAMETERS, body: this.sent(), responses };
  }

  private sent(): NonNullable<Operation['body']> {
    return { type: this.type, mediaTypes: bodyTypes(this.resource), required: true };
  }

  private get(): Verb {
    return { action: 'get', idVerb: 'read', phrase: 'read the specified', parameters: [], responses: [{ code: 200, type: this.type }] };
  }

  private update(): Verb {
    const responses = [200, 201].map((code) => ({ code, type: this.type }));
    return {
      action: 'put',
      idVerb: 'replace',
      phrase: 'replace the specified',
      parameters: UPDATE_PARAMETERS,
      body: this.sent(),
      responses,
    };
  }

  private patch(): Verb {
    const codes = this.resource.custom ? [200] : [200, 201];
    const responses = codes.map((code) => ({ code, type: this.type }));
    const mediaTypes = this.resource.custom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
    const body = { type: PATCH_DEFINITION, mediaTypes, required: true };
    return { action: 'patch', idVerb: 'patch', phrase: 'partially update the specified', parameters: PATCH_PARAMETERS, body, responses };
  }

  private delete(): Verb {
    // Upstream's document says that deleting a namespace returns a Status, although it returns the namespace.
    const isNamespace = this.resource.group === '' && this.resource.kind === 'Namespace';
    const type = this.resource.strategy?.returnsDeletedObject && !isNamespace ? this.type : meta.Status.name;
    const responses = [200, 202].map((code) => ({ code, type }));
    const body = this.deleteOptions();
    return { action: 'delete', idVerb: 'delete', phrase: 'delete a', parameters: DELETE_PARAMETERS, body, responses };
  }

  private deleteCollection(): Verb {
    const responses = [{ code: 200, type: meta.Status.name }];
    const common = { action: 'deletecollection', idVerb: 'delete', phrase: 'delete a collection of', responses };
    // Upstream documents no options in the body, and so only those of lists, for collections of custom resources.
    if (this.resource.custom) return { ...common, parameters: LIST_PARAMETERS };
    return { ...common, parameters: DELETE_COLLECTION_PARAMETERS, body: this.deleteOptions() };
  }

  private deleteOptions(): NonNullable<Operation['body']> {
    return { type: meta.DeleteOptions.name, mediaTypes: bodyTypes(this.resource), required: false };
  }

  /** Deprecated watch paths: still served, and part of generated clients. */
  watches(): readonly PathModel[] {
    const { verbs, resource, kind, namespaced, custom } = this.resource;
    if (!verbs.includes('watch') || custom) return [];
    const collection = `${this.base}/watch${this.scope}/${resource}`;
    const query = [...LIST_PARAMETERS, PRETTY];
    const paths = [
      {
        path: collection,
        parameters: [...this.scopeParameters, ...query],
        operations: { get: this.watch('watchlist', { suffix: 'List' }) },
      },
      {
        path: `${collection}/{name}`,
        parameters: [nameParameter(kind), ...this.scopeParameters, ...query],
        operations: { get: this.watch('watch', {}) },
      },
    ];
    const everywhere = this.watch('watchlist', { suffix: 'List', allNamespaces: true });
    return namespaced ? [...paths, { path: `${this.base}/watch/${resource}`, parameters: query, operations: { get: everywhere } }] : paths;
  }

  private watch(action: string, id: Partial<OperationIdParts>): Operation {
    const responses = [{ code: 200, type: meta.WatchEvent.name }];
    const verb = { action, idVerb: 'watch', phrase: 'watch changes to objects of kind', parameters: [], responses, isList: true };
    return this.operation(verb, id);
  }
}
