import { meta } from '#api';
import type { ObjectSchema } from '#machinery';
import type { Operation, PathModel } from './operation.ts';
import { capitalized, groupVersionWord, groupWord, tagOf } from './operation-id.ts';
import { OBJECT_TYPES } from './path-parts.ts';

/** A v3 document: its key, paths and types. */
export interface DocumentPart {
  readonly key: string;
  readonly paths: readonly PathModel[];
  readonly types: readonly ObjectSchema[];
}

/** Documents besides resources: discovery, version, and others. */
export function nonResourceParts(): readonly DocumentPart[] {
  return [
    part('api', '/api/', {
      id: 'getCoreAPIVersions',
      description: 'get the versions of the core API',
      tag: 'core',
      type: meta.APIVersions,
    }),
    part('apis', '/apis/', { id: 'getAPIVersions', description: 'get the groups that are served', tag: 'apis', type: meta.APIGroupList }),
    part('version', '/version/', {
      id: 'getCodeVersion',
      description: 'get the version of the server',
      tag: 'version',
      type: meta.VersionInfo,
      produces: ['application/json'],
    }),
    part('.well-known/openid-configuration', '/.well-known/openid-configuration/', {
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      description: 'get the OpenID configuration of the issuer of service account tokens',
      tag: 'WellKnown',
    }),
    part('openid/v1/jwks', '/openid/v1/jwks/', {
      id: 'getServiceAccountIssuerOpenIDKeyset',
      description: 'get the keys that service account tokens are signed with',
      tag: 'openid',
      produces: ['application/jwk-set+json'],
    }),
  ];
}

export function groupPart(group: string): DocumentPart {
  const id = `get${capitalized(groupWord(group))}APIGroup`;
  const description = `get the versions of ${group}`;
  return part(`apis/${group}`, `/apis/${group}/`, { id, description, tag: groupWord(group), type: meta.APIGroup });
}

/** The discovery path of a version. */
export function versionPath(at: { group: string; version: string }, base: string): PathModel {
  const id = `get${groupVersionWord(at)}APIResources`;
  return document(`${base}/`, { id, description: 'get the resources that are available', tag: tagOf(at), type: meta.APIResourceList });
}

interface DocumentOptions {
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly type?: ObjectSchema;
  readonly produces?: readonly string[];
}

function part(key: string, path: string, options: DocumentOptions): DocumentPart {
  return { key, paths: [document(path, options)], types: options.type ? [options.type] : [] };
}

function document(path: string, { id, description, tag, type, produces }: DocumentOptions): PathModel {
  const get: Operation = {
    id,
    description,
    tag,
    parameters: [],
    responses: [type ? { code: 200, type: type.name } : { code: 200 }],
    produces: produces ?? (type ? OBJECT_TYPES : ['application/json']),
    consumes: type ? (produces ?? OBJECT_TYPES) : [],
  };
  return { path, parameters: [], operations: { get } };
}
